import { Gateway } from "./gateway/gateway.ts";
import type { KeptState } from "./kept-state.ts";
import { functionEnvironment } from "./lambda/function-environment.ts";
import { FunctionPool } from "./lambda/function-pool.ts";
import type { InvocationStream } from "./lambda/invocation-stream.ts";
import type { LogSink } from "./lambda/log-sink.ts";
import { QueuePoller } from "./lambda/queue-poller.ts";
import { RunningSchedule } from "./lambda/running-schedule.ts";
import { SecretRotations } from "./lambda/secret-rotation.ts";
import type { Credentials } from "./servers/backing-server.ts";
import { createTables, openDatabase } from "./servers/database.ts";
import { createQueues, openQueueServer } from "./servers/queue-server.ts";
import { SecretStore } from "./servers/secret-store.ts";
import { openSecretsEndpoint } from "./servers/secrets-endpoint.ts";
import type { LocalFunction } from "./template/functions.ts";
import { loadTemplate, type Template } from "./template/template.ts";

/** The input of a local run. */
export interface LocalServiceOptions {
  /** The folder of the cloud assembly. */
  readonly assembly: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** The shell's environment; functions get only its configuration variables. */
  readonly environment: NodeJS.ProcessEnv;
  /** Names of variables that the shell may set on every function. */
  readonly configuration: readonly string[];
  /** Set on every function, above everything else. */
  readonly extraEnvironment?: Readonly<Record<string, string>>;
  /**
   * Maximum of concurrent events of a function on this machine. If undefined, a function that consumes a queue has as
   * many as the queue gives it, `batches`, and any other has one more than there are processors.
   */
  readonly maxThreadsOf?: (definition: LocalFunction, batches: number | undefined) => number | undefined;
  /** Whether the API's methods are throttled as the template says; otherwise any rate is let through. */
  readonly throttled?: boolean;
  /** Where state outlives the service; otherwise all of it ends with the service. The caller closes it. */
  readonly kept?: KeptState | undefined;
  /** Receives the output of functions and errors of the gateway and of queues; standard error unless given. */
  readonly logs?: LogSink;
  /** Runs when tables, queues, secrets and keys exist, and before the port is opened and queues are read. */
  readonly beforeListening?: (service: LocalBackend) => Promise<void>;
}

/** The service without its HTTP port. */
export interface LocalBackend {
  readonly databaseEndpoint: string;
  readonly secretsEndpoint: string;
  /** Undefined when the template has no queue and the shell names no server. */
  readonly queueEndpoint: string | undefined;
  /** Names queues by the URLs they have here. */
  readonly template: Template;
  /** Everything a function finds in its environment. */
  environmentOf(logicalId: string): Record<string, string>;
  /**
   * One event through a function's bundle. With an environment, whose variables come above the function's own, it
   * runs in an execution environment of its own.
   * @throws {InvocationError} when the function does not answer.
   */
  invoke(logicalId: string, event: unknown, options?: InvokeOptions): Promise<unknown>;
  /** Like `invoke`, but returns what the function answers as it is written. */
  stream(logicalId: string, event: unknown, options?: InvokeOptions): Promise<InvocationStream>;
}

/** How an event is run. */
export interface InvokeOptions {
  readonly environment?: Readonly<Record<string, string>>;
}

/** A running service. */
export interface LocalService extends LocalBackend {
  /** Without a trailing slash. */
  readonly url: string;
  /** Stops everything, also what is under way. Later calls wait for the first. */
  close(): Promise<void>;
}

/**
 * Serves a cloud assembly on this machine: tables, queues, secrets and their first rotation, then the port and the
 * functions that consume queues or run on a schedule.
 * @throws {Error} when any of it cannot be started; what had been started is closed again.
 */
export async function startLocalService(options: LocalServiceOptions): Promise<LocalService> {
  const opened: Closable[] = [];
  const keep: Keep = (started) => {
    opened.push(started);
    return started;
  };
  try {
    const backend = await startBackend(options, keep);
    await options.beforeListening?.(backend);
    const gateway = new Gateway({
      api: backend.template.api,
      invoke: backend.invoke,
      stream: backend.stream,
      logs: options.logs ?? process.stderr,
      throttled: options.throttled ?? false,
    });
    const { url } = keep(await gateway.open(options.port));
    for (const poller of pollersOf(backend, options)) keep(poller).start();
    for (const schedule of backend.template.schedules) {
      const { logs = process.stderr } = options;
      keep(new RunningSchedule({ schedule, invoke: backend.invoke, logs })).start();
    }
    let closing: Promise<void> | undefined;
    const close = () => {
      closing ??= closeAll(opened);
      return closing;
    };
    return { ...backend, url, close };
  } catch (error) {
    await closeAll(opened);
    throw error;
  }
}

interface Closable {
  close(): Promise<void>;
}

type Keep = <T extends Closable>(started: T) => T;

/** Of the embedded servers, which take any. */
export const embeddedCredentials: Credentials = { accessKeyId: "local", secretAccessKey: "local" };

async function startBackend(options: LocalServiceOptions, keep: Keep): Promise<LocalBackend> {
  const { environment: shell, configuration, kept, logs = process.stderr } = options;
  const declared = loadTemplate(options.assembly);
  const credentials = credentialsOf(shell);
  const secrets = new SecretStore(declared.secrets, kept?.secrets);

  let rotations: SecretRotations | undefined;
  const begun = () => {
    if (rotations === undefined) throw new Error("The functions that rotate secrets have not been started");
    return rotations;
  };
  const keepSecrets = async () => await kept?.keepSecrets(secrets.stored());
  const secretsServer = keep(await openSecretsEndpoint(secrets, begun, keepSecrets));
  const [databaseEndpoint, { queueEndpoint, template }] = await both(
    openTables(declared, options, keep),
    openQueues(declared, options, keep),
  );

  const endpoints = { databaseEndpoint, queueEndpoint, secretsEndpoint: secretsServer.url };
  const surroundings = {
    ...endpoints,
    credentials,
    shell,
    configuration,
    extra: options.extraEnvironment ?? {},
  };
  const pools = new Map(
    template.functions.map((definition) => {
      const batches = batchesAtOnce(template, definition);
      const maxThreads = options.maxThreadsOf?.(definition, batches) ?? batches;
      const environment = functionEnvironment(definition, surroundings);
      return [definition.logicalId, keep(new FunctionPool(definition, environment, logs, { maxThreads }))];
    }),
  );
  const poolOf = (logicalId: string) => {
    const pool = pools.get(logicalId);
    if (pool === undefined) throw new Error(`The template has no function ${logicalId}`);
    return pool;
  };
  const backend: LocalBackend = {
    ...endpoints,
    template,
    environmentOf: (logicalId) => functionEnvironment(template.functionOf(logicalId), surroundings),
    invoke: async (logicalId, event, { environment } = {}) =>
      await poolOf(logicalId).invoke(event, environment),
    stream: async (logicalId, event, { environment } = {}) =>
      await poolOf(logicalId).stream(event, environment),
  };
  rotations = new SecretRotations(secrets, template.rotations, backend.invoke, logs);
  await rotations.rotateNew();
  return backend;
}

/** How many batches of its queues a function gets at the same time; undefined when it consumes none. */
function batchesAtOnce({ eventSources }: Template, { logicalId }: LocalFunction): number | undefined {
  const own = eventSources.filter(({ functionLogicalId }) => functionLogicalId === logicalId);
  return own.length === 0 ? undefined : own.reduce((sum, { concurrency }) => sum + concurrency, 0);
}

async function openTables(
  template: Template,
  { environment: shell, kept }: LocalServiceOptions,
  keep: Keep,
): Promise<string> {
  const { endpoint } = keep(await openDatabase(externalEndpoints(shell).database, kept?.tables));
  await createTables(endpoint, credentialsOf(shell), template.tables);
  return endpoint;
}

/** Creates the queues, after which the template can name them; a template without queues needs no server. */
async function openQueues(template: Template, { environment: shell, kept }: LocalServiceOptions, keep: Keep) {
  const external = externalEndpoints(shell).queues;
  if (template.queues.length === 0) return { queueEndpoint: external, template };
  const { endpoint } = keep(await openQueueServer(external, kept?.queues));
  const urls = await createQueues(endpoint, credentialsOf(shell), template.queues);
  return { queueEndpoint: endpoint, template: template.withQueueUrls(urls) };
}

function pollersOf(backend: LocalBackend, options: LocalServiceOptions): readonly QueuePoller[] {
  const { queueEndpoint: endpoint, template, invoke } = backend;
  if (endpoint === undefined) return [];
  const credentials = credentialsOf(options.environment);
  return template.eventSources.map((source) => {
    const queue = template.queueOf(source.queueLogicalId);
    return new QueuePoller({
      source,
      queue,
      endpoint,
      credentials,
      invoke,
      logs: options.logs ?? process.stderr,
    });
  });
}

/** Like `Promise.all`, but waits for both also when one fails, so that whatever starts is there to be closed. */
async function both<First, Second>(
  first: Promise<First>,
  second: Promise<Second>,
): Promise<readonly [First, Second]> {
  await Promise.allSettled([first, second]);
  return [await first, await second];
}

/** Servers of somebody else that the shell names. */
function externalEndpoints(shell: NodeJS.ProcessEnv) {
  return {
    database: shell.AWS_ENDPOINT_URL_DYNAMODB || undefined,
    queues: shell.AWS_ENDPOINT_URL_SQS || undefined,
  };
}

/** The embedded servers accept any keys; a server of somebody else may not. */
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
  if (failures.length > 0) throw new AggregateError(failures, "Not everything could be closed");
}
