import { type Credentials, createTables, openDatabase } from "./database.ts";
import { functionEnvironment } from "./function-environment.ts";
import { FunctionPool } from "./function-pool.ts";
import type { LogSink } from "./function-thread.ts";
import { Gateway } from "./gateway.ts";
import { rotateSecret } from "./secret-rotation.ts";
import { SecretStore } from "./secret-store.ts";
import { openSecretsEndpoint } from "./secrets-endpoint.ts";
import { loadTemplate, type Template } from "./template.ts";

/** What a local run serves. */
export interface LocalServiceOptions {
  /** The folder of the cloud assembly. */
  readonly assembly: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** The shell's environment; functions see of it only what is configuration. */
  readonly environment: NodeJS.ProcessEnv;
  /** Names of variables that the shell may set on every function. */
  readonly configuration: readonly string[];
  /** Set on every function, above everything else. */
  readonly extraEnvironment?: Readonly<Record<string, string>>;
  /** Receives the output of functions and the gateway's errors; standard error unless given. */
  readonly logs?: LogSink;
  /** Runs when tables, secrets and keys exist and before the port is opened. */
  readonly beforeListening?: (service: LocalBackend) => Promise<void>;
}

/** The service without its HTTP port. */
export interface LocalBackend {
  readonly databaseEndpoint: string;
  readonly secretsEndpoint: string;
  readonly template: Template;
  /** Everything a function finds in its environment. */
  environmentOf(logicalId: string): Record<string, string>;
  /**
   * One event through a function's bundle. With an environment, whose variables come above the function's own, it
   * runs in an execution environment of its own.
   * @throws {InvocationError} when the function does not answer.
   */
  invoke(
    logicalId: string,
    event: unknown,
    options?: { readonly environment?: Readonly<Record<string, string>> },
  ): Promise<unknown>;
}

/** A running service. */
export interface LocalService extends LocalBackend {
  /** Without a trailing slash. */
  readonly url: string;
  /** Stops everything, also what is under way. Later calls wait for the first. */
  close(): Promise<void>;
}

/**
 * Serves a cloud assembly on this machine: tables, secrets and their first rotation, then the port.
 * @throws {Error} when any of it cannot be started; what had been started is closed again.
 */
export async function startLocalService(options: LocalServiceOptions): Promise<LocalService> {
  const opened: Closable[] = [];
  const keep = <T extends Closable>(started: T): T => {
    opened.push(started);
    return started;
  };
  try {
    const backend = await startBackend(options, keep);
    await options.beforeListening?.(backend);
    const gateway = new Gateway({
      api: backend.template.api,
      invoke: backend.invoke,
      logs: options.logs ?? process.stderr,
    });
    const { url } = keep(await gateway.open(options.port));
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

async function startBackend(
  options: LocalServiceOptions,
  keep: <T extends Closable>(started: T) => T,
): Promise<LocalBackend> {
  const { environment: shell, configuration, logs = process.stderr } = options;
  const template = loadTemplate(options.assembly);
  const externalDatabase = shell.AWS_ENDPOINT_URL_DYNAMODB || undefined;
  const credentials = credentialsOf(externalDatabase === undefined ? {} : shell);
  const secrets = new SecretStore(template.secrets);

  const database = keep(await openDatabase(externalDatabase));
  const secretsServer = keep(await openSecretsEndpoint(secrets));
  await createTables(database.endpoint, credentials, template.tables);

  const surroundings = {
    databaseEndpoint: database.endpoint,
    secretsEndpoint: secretsServer.url,
    credentials,
    shell,
    configuration,
    extra: options.extraEnvironment ?? {},
  };
  const pools = new Map(
    template.functions.map((definition) => [
      definition.logicalId,
      keep(new FunctionPool(definition, functionEnvironment(definition, surroundings), logs)),
    ]),
  );
  const backend: LocalBackend = {
    databaseEndpoint: database.endpoint,
    secretsEndpoint: secretsServer.url,
    template,
    environmentOf: (logicalId) => functionEnvironment(template.functionOf(logicalId), surroundings),
    invoke: async (logicalId, event, { environment } = {}) => {
      const pool = pools.get(logicalId);
      if (pool === undefined) throw new Error(`The template has no function ${logicalId}`);
      return environment === undefined ? pool.invoke(event) : pool.invokeAlone(event, environment);
    },
  };
  for (const rotation of template.rotations) {
    const functionArn = template.functionOf(rotation.functionLogicalId).arn;
    await rotateSecret(secrets, { ...rotation, functionArn }, backend.invoke);
  }
  return backend;
}

/** The embedded servers accept any keys; a server of somebody else may not. */
function credentialsOf(shell: NodeJS.ProcessEnv): Credentials {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = shell;
  return {
    accessKeyId: AWS_ACCESS_KEY_ID || "local",
    secretAccessKey: AWS_SECRET_ACCESS_KEY || "local",
    ...(AWS_SESSION_TOKEN ? { sessionToken: AWS_SESSION_TOKEN } : {}),
  };
}

async function closeAll(opened: readonly Closable[]): Promise<void> {
  const results = await Promise.allSettled(opened.map((started) => started.close()));
  const failures = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  if (failures.length > 0) throw new AggregateError(failures, "Not everything could be closed");
}
