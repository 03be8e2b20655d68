import { Gateway } from "./gateway/gateway.ts";
import type { KeptState } from "./kept-state.ts";
import { functionEnvironment } from "./lambda/function-environment.ts";
import { FunctionPool } from "./lambda/function-pool.ts";
import type { InvocationStream } from "./lambda/invocation-stream.ts";
import type { LogSink } from "./lambda/log-sink.ts";
import { QueuePoller } from "./lambda/queue-poller.ts";
import { RunningSchedule } from "./lambda/running-schedule.ts";
import { SecretRotations } from "./lambda/secret-rotation.ts";
import { type Credentials, embeddedCredentials } from "./servers/backing-server.ts";
import { createTables, openDatabase } from "./servers/database.ts";
import { createQueues, openQueueServer } from "./servers/queue-server.ts";
import { SecretStore } from "./servers/secret-store.ts";
import { openSecretsEndpoint } from "./servers/secrets-endpoint.ts";
import type { LocalFunction } from "./template/functions.ts";
import { loadTemplate, type Template } from "./template/template.ts";

/** What a local run needs. */
export interface LocalServiceOptions {
  /** The folder of the cloud assembly. */
  readonly assembly: string;
  /** 0 chooses a free port. */
  readonly port: number;
  /** The shell's environment; functions receive only its configuration variables. */
  readonly environment: NodeJS.ProcessEnv;
  /** Names of variables that the shell may set on every function. */
  readonly configuration: readonly string[];
  /**
   * How many times as long as deployed ones the functions of the API, their own deadlines and the gateway may take: a busy
   * machine is slow. Once, if absent. Functions that consume queues keep their times.
   */
  readonly deadlineFactor?: number | undefined;
  /** Set on every function; overrides everything else. */
  readonly extraEnvironment?: Readonly<Record<string, string>>;
  /**
   * Maximum number of concurrent events of a function on this machine. If undefined, it is `batches`, what its queues
   * may give it at a time, for a function that consumes a queue, and one more than the number of processors for any
   * other.
   */
  readonly maxThreadsOf?: (definition: LocalFunction, batches: number | undefined) => number | undefined;
  /** For how long the last environment of a function is kept without an event; half a minute if absent. */
  readonly idleMilliseconds?: number;
  /** Keeps the state beyond the end of the service; without it, all state is lost. The caller closes it. */
  readonly kept?: KeptState | undefined;
  /** Names by which the gateway and the embedded servers can be called, in addition to loopback ones; in lower case. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Told when an embedded server, or what it keeps, can no longer be used; by default a warning. */
  readonly onBroken?: ((error: Error) => void) | undefined;
  /** Receives the output of functions and the errors of the gateway and of queues; by default standard error. */
  readonly logs?: LogSink;
  /** Runs when tables, queues, secrets and keys exist, before the port is opened and queues are read. */
  readonly beforeListening?: (service: LocalBackend) => Promise<void>;
}

/** The service without its HTTP port. */
export interface LocalBackend {
  readonly databaseEndpoint: string;
  readonly secretsEndpoint: string;
  /** Undefined if the template has no queue and the shell names no server. */
  readonly queueEndpoint: string | undefined;
  /** Refers to queues by their local URLs. */
  readonly template: Template;
  /** The environment of a function. */
  environmentOf(logicalId: string): Record<string, string>;
  /**
   * Invokes a function with one event. With `environment`, whose variables override the function's own, the event runs
   * in an execution environment of its own.
   * @throws {InvocationError} if the function fails.
   */
  invoke(logicalId: string, event: unknown, options?: InvokeOptions): Promise<unknown>;
  /** Like `invoke`, but returns the response while it is being written. */
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
  /** Stops everything, including requests in flight. Later calls wait for the first. */
  close(): Promise<void>;
}

/**
 * Serves a cloud assembly on this machine: tables, queues, secrets and their first rotation, then the port and the
 * functions that consume queues or run on a schedule.
 * @throws {Error} if any of it cannot be started; what was started is then closed.
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
      allowedHosts: options.allowedHosts,
      deadlineFactor: options.deadlineFactor,
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

async function startBackend(options: LocalServiceOptions, keep: Keep): Promise<LocalBackend> {
  const { environment: shell, configuration, kept, allowedHosts = [], logs = process.stderr } = options;
  const { deadlineFactor } = options;
  const declared = loadTemplate(options.assembly, deadlineFactor);
  const credentials = credentialsOf(shell);
  const secrets = new SecretStore(declared.secrets, kept?.secrets);

  let rotations: SecretRotations | undefined;
  const begun = () => {
    if (rotations === undefined) throw new Error("The functions that rotate secrets have not been started");
    return rotations;
  };
  const keepSecrets = async () => {
    await kept?.keepSecrets(secrets.stored()).catch((error: Error) => {
      options.onBroken?.(error);
      throw error;
    });
  };
  const secretsServer = keep(await openSecretsEndpoint(secrets, begun, keepSecrets, allowedHosts));
  const [databaseEndpoint, { queueEndpoint, template }] = await both(
    openTables(declared, options, keep),
    openQueues(declared, options, keep),
  );

  const endpoints = { databaseEndpoint, queueEndpoint, secretsEndpoint: secretsServer.url };
  const surroundings = { ...endpoints, credentials, shell, configuration };
  const { extraEnvironment } = options;
  const slow = deadlineFactor === undefined ? {} : { DEADLINE_FACTOR: String(deadlineFactor) };
  const environmentOf = (definition: LocalFunction) => {
    const extra = { ...(template.consumesQueue(definition) ? {} : slow), ...extraEnvironment };
    return functionEnvironment(definition, { ...surroundings, extra });
  };
  const pools = new Map(
    template.functions.map((definition) => {
      const batches = batchesAtOnce(template, definition);
      const maxThreads = options.maxThreadsOf?.(definition, batches) ?? batches;
      const environment = environmentOf(definition);
      const limits = { maxThreads, idleMilliseconds: options.idleMilliseconds };
      return [definition.logicalId, keep(new FunctionPool(definition, environment, logs, limits))];
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
    environmentOf: (logicalId) => environmentOf(template.functionOf(logicalId)),
    invoke: async (logicalId, event, { environment } = {}) =>
      await poolOf(logicalId).invoke(event, environment),
    stream: async (logicalId, event, { environment } = {}) =>
      await poolOf(logicalId).stream(event, environment),
  };
  rotations = new SecretRotations(secrets, template.rotations, backend.invoke, logs);
  await rotations.rotateNew();
  return backend;
}

function isOf({ logicalId }: LocalFunction) {
  return ({ functionLogicalId }: { readonly functionLogicalId: string }) => functionLogicalId === logicalId;
}

/** How many batches its queues may give a function at a time; undefined if it consumes none. */
function batchesAtOnce({ eventSources }: Template, definition: LocalFunction): number | undefined {
  const own = eventSources.filter(isOf(definition));
  return own.length === 0 ? undefined : own.reduce((sum, { concurrency }) => sum + concurrency, 0);
}

async function openTables(
  template: Template,
  { environment: shell, kept, allowedHosts, onBroken }: LocalServiceOptions,
  keep: Keep,
): Promise<string> {
  const external = externalEndpoints(shell).database;
  const { endpoint } = keep(await openDatabase(external, { folder: kept?.tables, allowedHosts, onBroken }));
  await createTables(endpoint, credentialsOf(shell), template.tables);
  return endpoint;
}

/** Creates the queues and puts their URLs into the template. A template without queues needs no server. */
async function openQueues(
  template: Template,
  { environment: shell, kept, allowedHosts, onBroken }: LocalServiceOptions,
  keep: Keep,
) {
  const external = externalEndpoints(shell).queues;
  if (template.queues.length === 0) return { queueEndpoint: external, template };
  const { endpoint } = keep(
    await openQueueServer(external, { folder: kept?.queues, allowedHosts, onBroken }),
  );
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
