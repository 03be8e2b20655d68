import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { type TableName, tables } from "../../functions/areas.ts";
import { consoleWebsite } from "../../functions/console/website.ts";
import type { FunctionId } from "../../infra/functions.ts";
import { rotation } from "../../infra/served.ts";
import { queueVariable } from "../../shared/sqs/queues.ts";
import { tableVariable } from "../../shared/table.ts";
import { queueArnOf, signingKeySecret, tableNameOf } from "./declared/aws-names.ts";
import { type Declarations, type LocalFunction, readDeclarations } from "./declared/declarations.ts";
import { Gateway } from "./gateway/gateway.ts";
import type { KeptState } from "./kept-state.ts";
import { functionEnvironment } from "./lambda/function-environment.ts";
import { hashesAtOnce } from "./lambda/function-executions.ts";
import type { FunctionGroup } from "./lambda/function-threads.ts";
import { Functions, type InvokeOptions } from "./lambda/functions.ts";
import type { InvocationStream } from "./lambda/invocation-stream.ts";
import type { LogSink } from "./lambda/log-sink.ts";
import { QueuePoller } from "./lambda/queue-poller.ts";
import { RunningSchedule } from "./lambda/running-schedule.ts";
import { SecretRotations } from "./lambda/secret-rotation.ts";
import type { Pages } from "./pages.ts";
import { type Credentials, embeddedCredentials } from "./servers/backing-server.ts";
import { createTables, openDatabase } from "./servers/database.ts";
import { firstMessage } from "./servers/first-message.ts";
import { createQueues, openQueueServer, type QueueUrls } from "./servers/queue-server.ts";
import { SecretStore } from "./servers/secret-store.ts";
import { openSecretsEndpoint } from "./servers/secrets-endpoint.ts";

/** Bundles that a service runs instead of the sources. */
interface ServedBundles {
  /** With a folder for each function. */
  readonly folder: string;
  /** The names of the variables that a function is deployed with; it gets no other of the service's. */
  readonly variablesOf: (id: FunctionId) => readonly string[];
}

/** What a local run needs. */
export interface LocalServiceOptions {
  /** 0 chooses a free port. */
  readonly port: number;
  /** The shell's environment; functions receive only its configuration variables. */
  readonly environment: NodeJS.ProcessEnv;
  /**
   * How many times as long as deployed ones the functions of the API, their own deadlines and the gateway may take: a busy
   * machine is slow. Once, if absent. Functions that consume queues keep their times.
   */
  readonly deadlineFactor?: number | undefined;
  /** For how long the event loop of a thread of functions may stand still; four seconds, if absent. */
  readonly blockedMilliseconds?: number;
  /** Set on every function; overrides everything else. */
  readonly extraEnvironment?: Readonly<Record<string, string>>;
  /** Builds what the console's function serves. */
  readonly pages?: Pages | undefined;
  /** Each runs in a thread of its own, with its own variables. */
  readonly bundles?: ServedBundles | undefined;
  /** Keeps the state beyond the end of the service; without it, all state is lost. The caller closes it. */
  readonly kept?: KeptState | undefined;
  /** Names by which the gateway and the embedded servers can be called, in addition to loopback ones; in lower case. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** The https address that answers name instead of the one that was asked. */
  readonly publicUrl?: URL | undefined;
  /** Told when an embedded server, or what it keeps, can no longer be used; by default a warning. */
  readonly onBroken?: ((error: Error) => void) | undefined;
  /** Receives the output of functions and the errors of the gateway and of queues; by default standard error. */
  readonly logs?: LogSink;
  /**
   * Runs when tables, queues and secrets exist, before the port is opened and queues are read.
   * @param firstKey resolves when there is a signing key, which is made meanwhile.
   */
  readonly beforeListening?: (service: LocalBackend, firstKey: Promise<void>) => Promise<void>;
}

/** The service without its HTTP port. */
export interface LocalBackend {
  readonly databaseEndpoint: string;
  readonly secretsEndpoint: string;
  readonly queueEndpoint: string;
  readonly queueUrls: QueueUrls;
  /** The names of all tables by their variables. */
  readonly tableNames: Readonly<Record<string, string>>;
  /** What it serves. */
  readonly declarations: Declarations;
  /** The environment of a function: what it would have in a thread of its own. */
  environmentOf(id: FunctionId): Record<string, string>;
  /**
   * Invokes a function with one event. With `environment`, whose variables override the function's own, the event runs
   * in a thread of its own.
   * @throws {InvocationError} if the function fails.
   */
  invoke(id: FunctionId, event: unknown, options?: InvokeOptions): Promise<unknown>;
  /** Like `invoke`, but returns the response while it is being written. */
  stream(id: FunctionId, event: unknown, options?: InvokeOptions): Promise<InvocationStream>;
}

/** A running service. */
export interface LocalService extends LocalBackend {
  /** Without a trailing slash. */
  readonly url: string;
  /**
   * Serves what the files of the project say now, from the next request on. Schedules, and which queues are read, stay as
   * they were.
   * @param pages are served then instead of those before.
   * @throws {Error} if they cannot be loaded, or a table has other keys than before; the former code then goes on.
   */
  reload(pages?: Pages): Promise<void>;
  /** Stops everything, including requests in flight. Later calls wait for the first. */
  close(): Promise<void>;
}

/**
 * Serves the declarations on this machine: tables, queues, the signing key and its first rotation, then the port and the
 * functions that consume queues or run on a schedule.
 * @throws {Error} if any of it cannot be started; what was started is then closed.
 */
export async function startLocalService(options: LocalServiceOptions): Promise<LocalService> {
  const { environment: shell, logs = process.stderr } = options;
  const opened: Closable[] = [];
  const track: Track = (started) => {
    opened.push(started);
    return started;
  };
  try {
    const declarations = withFactor(readDeclarations(shell), options.deadlineFactor);
    const { functions, rotations, usePages, ...backend } = await startBackend(declarations, options, track);
    const firstKey = rotations.rotateNew();
    await both(firstKey, options.beforeListening?.(backend, firstKey) ?? Promise.resolve());
    const gateway = new Gateway({
      api: declarations.api,
      invoke: (id, event) => backend.invoke(id as FunctionId, event),
      stream: (id, event) => backend.stream(id as FunctionId, event),
      logs,
      allowedHosts: options.allowedHosts,
      publicUrl: options.publicUrl,
      deadlineFactor: options.deadlineFactor,
    });
    const { url } = track(await gateway.open(options.port));
    for (const poller of pollersOf(backend, options)) track(poller).start();
    for (const schedule of schedulesOf(backend, logs)) track(schedule).start();
    let closing: Promise<void> | undefined;
    functions.load().catch((error: unknown) => {
      if (closing === undefined) logUnloaded(logs, error);
    });
    const reload = async (pages = options.pages) => {
      const next = withFactor(await changedDeclarations(shell), options.deadlineFactor);
      await createTables(backend.databaseEndpoint, credentialsOf(shell), next.tables).catch(
        (error: Error) => {
          throw new Error(`${error.message}: stop npm start and restart it`);
        },
      );
      await functions.replace(...servedBy(next, { ...options, pages }, backend));
      usePages(pages);
      gateway.serve(next.api);
    };
    const close = () => {
      closing ??= closeAll(opened);
      return closing;
    };
    return { ...backend, url, reload, close };
  } catch (error) {
    await closeAll(opened);
    throw error;
  }
}

interface Closable {
  close(): Promise<void>;
}

type Track = <T extends Closable>(started: T) => T;

/** What the project's files say now: this thread keeps the modules that it has loaded. */
async function changedDeclarations(shell: NodeJS.ProcessEnv): Promise<Declarations> {
  const thread = new Worker(new URL("./declared/declarations-thread.mjs", import.meta.url), {
    workerData: { ...shell },
    execArgv: [],
  });
  try {
    return (await firstMessage(thread, declaringMilliseconds, "the new code")) as Declarations;
  } finally {
    await thread.terminate();
  }
}

/** Events of the function fail, too, and say so. */
function logUnloaded(logs: LogSink, error: unknown): void {
  const line = {
    level: "ERROR",
    message: "A function cannot be loaded",
    timestamp: new Date().toISOString(),
  };
  logs.write(`${JSON.stringify({ ...line, reason: String(error) })}\n`);
}

const declaringMilliseconds = 60_000;

/** Whether a function answers requests, also those of the authorizer and of Secrets Manager, which others wait for. */
function isOfApi({ consumes, everySeconds }: LocalFunction): boolean {
  return consumes === undefined && everySeconds === undefined;
}

/** The same with more time for functions, but those that consume a queue: a message would come again meanwhile. */
function withFactor(declarations: Declarations, factor = 1): Declarations {
  const functions = declarations.functions.map((one) =>
    one.consumes === undefined ? { ...one, timeoutSeconds: one.timeoutSeconds * factor } : one,
  );
  return { ...declarations, functions };
}

interface StartedBackend extends LocalBackend {
  readonly functions: Functions;
  readonly rotations: SecretRotations;
  readonly usePages: (pages: Pages | undefined) => void;
}

async function startBackend(
  declarations: Declarations,
  options: LocalServiceOptions,
  track: Track,
): Promise<StartedBackend> {
  const { kept, allowedHosts = [], logs = process.stderr, blockedMilliseconds } = options;
  let { pages } = options;
  const secrets = new SecretStore([signingKeySecret], kept?.secrets);
  let rotations: SecretRotations | undefined;
  const requireRotations = () => {
    if (rotations === undefined) throw new Error("The functions that rotate secrets have not been started");
    return rotations;
  };
  const keepSecrets = async () => {
    await kept?.keepSecrets(secrets.stored()).catch((error: Error) => {
      options.onBroken?.(error);
      throw error;
    });
  };
  const secretsServer = track(
    await openSecretsEndpoint(secrets, requireRotations, keepSecrets, allowedHosts),
  );
  const [databaseEndpoint, queueServer] = await both(
    openTables(declarations, options, track),
    openQueues(declarations, options, track),
  );
  const names = tables.map((table) => [tableVariable(table), tableNameOf(table.name as TableName)]);
  const endpoints = { databaseEndpoint, ...queueServer, secretsEndpoint: secretsServer.url };
  const functions = track(
    new Functions(...servedBy(declarations, options, endpoints), { logs, blockedMilliseconds }),
  );
  const environmentOf = (id: FunctionId) => {
    const found = declarations.functions.find((one) => one.id === id);
    if (found === undefined) throw new Error(`there is no function ${id}`);
    const environment = environmentFor(found, options, endpoints);
    return {
      ...(options.bundles ? bundleGroup(found, options.bundles, environment).environment : environment),
    };
  };
  const optionsFor = (id: FunctionId, { environment }: InvokeOptions) =>
    environment === undefined ? {} : { environment: { ...environmentOf(id), ...environment } };
  const ready = async (id: FunctionId, event: unknown) => {
    if (pages !== undefined && needsPages(id, event)) await pages.built();
  };
  const backend: LocalBackend = {
    ...endpoints,
    tableNames: Object.fromEntries(names),
    declarations,
    environmentOf,
    invoke: async (id, event, invoked = {}) => {
      await ready(id, event);
      return await functions.invoke(id, event, optionsFor(id, invoked));
    },
    stream: async (id, event, invoked = {}) => {
      await ready(id, event);
      return await functions.stream(id, event, optionsFor(id, invoked));
    },
  };
  rotations = new SecretRotations(secrets, rotation, (_, event) => backend.invoke(rotation, event), logs);
  const usePages = (next: Pages | undefined) => {
    pages = next;
  };
  return { ...backend, functions, rotations, usePages };
}

/** Whether an event is a request for what is built of `console/`. */
function needsPages(id: FunctionId, event: unknown): boolean {
  const isText =
    typeof event === "object" && event !== null && "resource" in event && event.resource === "/llms.txt";
  return id === consoleWebsite.id && !isText;
}

type Endpoints = Pick<LocalBackend, "databaseEndpoint" | "queueEndpoint" | "queueUrls" | "secretsEndpoint">;

function environmentFor(
  definition: LocalFunction,
  { environment: shell, deadlineFactor, extraEnvironment, pages }: LocalServiceOptions,
  endpoints: Endpoints,
): Record<string, string> {
  const isSlow = deadlineFactor !== undefined && isOfApi(definition);
  const extra = {
    ...(isSlow ? { DEADLINE_FACTOR: String(deadlineFactor) } : {}),
    ...(pages === undefined ? {} : { PAGES_FOLDER: pages.folder }),
    ...extraEnvironment,
  };
  return functionEnvironment(definition, { ...endpoints, credentials: credentialsOf(shell), shell, extra });
}

const project = fileURLToPath(new URL("../..", import.meta.url));

/** The functions and their threads: one for those of the API, and one for those of queues and schedules. */
function servedBy(
  { functions }: Declarations,
  options: LocalServiceOptions,
  endpoints: Endpoints,
): Parameters<Functions["replace"]> {
  const served = functions.map(({ id, consumes, ...one }) => ({
    ...one,
    id,
    maxAtOnce: id === "profile/authenticate" ? hashesAtOnce() : consumes?.concurrency,
  }));
  const { bundles } = options;
  if (bundles !== undefined) {
    return [
      served,
      functions.map((one) => bundleGroup(one, bundles, environmentFor(one, options, endpoints))),
    ];
  }
  // The start waits for the rotation, and the first request is mostly a login.
  const first: readonly string[] = [rotation, "profile/authenticate"];
  const rank = ({ id }: LocalFunction) => (first.includes(id) ? first.indexOf(id) : first.length);
  const ofApi = functions.filter(isOfApi).toSorted((one, other) => rank(one) - rank(other));
  const others = functions.filter((one) => !isOfApi(one));
  const groupOf = (group: readonly LocalFunction[]): FunctionGroup => ({
    files: Object.fromEntries(group.map(({ id, handler }) => [id, `${project}${handler}`])),
    environment: Object.assign({}, ...group.map((one) => environmentFor(one, options, endpoints))),
  });
  return [served, [groupOf(ofApi), groupOf(others)]];
}

/** @throws {Error} naming a variable that the function is deployed with and that a local run does not know. */
function bundleGroup(
  { id, variables, queues }: LocalFunction,
  { folder, variablesOf }: ServedBundles,
  environment: Readonly<Record<string, string>>,
): FunctionGroup {
  const deployed = variablesOf(id);
  const unknown = deployed.find((name) => !(name in environment));
  if (unknown !== undefined)
    throw new Error(`${id} is deployed with ${unknown}, which it does not have here`);
  const own = [...Object.keys(variables), ...queues.map(queueVariable)];
  const withheld = own.filter((name) => !deployed.includes(name));
  const given = Object.entries(environment).filter(([name]) => !withheld.includes(name));
  return { files: { [id]: `${folder}/${id}/index.mjs` }, environment: Object.fromEntries(given) };
}

async function openTables(
  { tables: declared }: Declarations,
  { environment: shell, kept, allowedHosts, onBroken }: LocalServiceOptions,
  track: Track,
): Promise<string> {
  const external = externalEndpoints(shell).database;
  const { endpoint } = track(await openDatabase(external, { folder: kept?.tables, allowedHosts, onBroken }));
  await createTables(endpoint, credentialsOf(shell), declared);
  return endpoint;
}

async function openQueues(
  { queues }: Declarations,
  { environment: shell, kept, allowedHosts, onBroken }: LocalServiceOptions,
  track: Track,
): Promise<Pick<LocalBackend, "queueEndpoint" | "queueUrls">> {
  const external = externalEndpoints(shell).queues;
  const { endpoint } = track(
    await openQueueServer(external, { folder: kept?.queues, allowedHosts, onBroken }),
  );
  return { queueEndpoint: endpoint, queueUrls: await createQueues(endpoint, credentialsOf(shell), queues) };
}

function pollersOf(
  { queueEndpoint, queueUrls, declarations, invoke }: LocalBackend,
  { environment, logs = process.stderr }: LocalServiceOptions,
): readonly QueuePoller[] {
  return declarations.functions.flatMap(({ id, consumes }) => {
    if (consumes === undefined) return [];
    const { queue, concurrency } = consumes;
    return new QueuePoller({
      functionId: id,
      queue: { url: queueUrls.get(queue) ?? "", arn: queueArnOf(queue) },
      concurrency,
      endpoint: queueEndpoint,
      credentials: credentialsOf(environment),
      invoke: (_, event) => invoke(id, event),
      logs,
    });
  });
}

function schedulesOf({ declarations, invoke }: LocalBackend, logs: LogSink): readonly RunningSchedule[] {
  return declarations.functions.flatMap(({ id, everySeconds }) =>
    everySeconds === undefined
      ? []
      : new RunningSchedule({
          functionId: id,
          seconds: everySeconds,
          invoke: (_, event) => invoke(id, event),
          logs,
        }),
  );
}
/** Like `Promise.all`, but waits for both even if one fails, so that everything that has started can be closed. */
async function both<First, Second>(
  first: Promise<First>,
  second: Promise<Second>,
): Promise<readonly [First, Second]> {
  await Promise.allSettled([first, second]);
  return [await first, await second];
}

/** The external servers that the shell names. */
function externalEndpoints(shell: NodeJS.ProcessEnv) {
  return {
    database: shell.AWS_ENDPOINT_URL_DYNAMODB || undefined,
    queues: shell.AWS_ENDPOINT_URL_SQS || undefined,
  };
}

/** An external server may require the shell's credentials; the embedded servers accept any. */
function credentialsOf(shell: NodeJS.ProcessEnv): Credentials {
  const { database, queues } = externalEndpoints(shell);
  if (database === undefined && queues === undefined) return embeddedCredentials;
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = shell;
  return {
    accessKeyId: AWS_ACCESS_KEY_ID || embeddedCredentials.accessKeyId,
    secretAccessKey: AWS_SECRET_ACCESS_KEY || embeddedCredentials.secretAccessKey,
    ...(AWS_SESSION_TOKEN ? { sessionToken: AWS_SESSION_TOKEN } : {}),
  };
}

async function closeAll(opened: readonly Closable[]): Promise<void> {
  const results = await Promise.allSettled(opened.map((started) => started.close()));
  const failures = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  if (failures.length > 0) throw new AggregateError(failures, "Some parts could not be closed");
}
