import { Worker } from "node:worker_threads";
import { firstMessage } from "./first-message.ts";
import { youngGeneration } from "./thread-limits.ts";

/** A thread that fails says so at once; one on a busy machine is late. */
const startMilliseconds = 120_000;

/** Credentials that sign requests; the embedded servers accept any. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** The embedded servers accept any credentials. */
export const embeddedCredentials: Credentials = { accessKeyId: "local", secretAccessKey: "local" };

/** A server that stands in for an AWS service. */
export interface BackingServer {
  readonly endpoint: string;
  close(): Promise<void>;
}

/** How an embedded server runs. */
export interface EmbeddedOptions {
  /** Where it stores its data; if undefined, in memory. */
  readonly folder?: string | undefined;
  /** Names by which it can be called, in addition to loopback ones; in lower case. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Told when it has ended by an error, such as that of a full disk; a warning if absent. */
  readonly onBroken?: ((error: Error) => void) | undefined;
}

/**
 * The external server if an endpoint is given, otherwise an embedded one.
 * @param module runs in its own thread, and posts the port of 127.0.0.1 on which it listens.
 * @param name names the embedded server in errors.
 * @param options for the embedded server.
 */
export async function openBackingServer(
  externalEndpoint: string | undefined,
  module: URL,
  name: string,
  { folder, allowedHosts = [], onBroken = (error) => process.emitWarning(error) }: EmbeddedOptions,
): Promise<BackingServer> {
  if (externalEndpoint !== undefined) return { endpoint: externalEndpoint, close: async () => {} };
  const thread = new Worker(module, {
    execArgv: [],
    workerData: { folder, allowedHosts },
    resourceLimits: youngGeneration,
  });
  const close = async () => void (await thread.terminate());
  try {
    const port = await firstMessage(thread, startMilliseconds, name);
    thread.on("error", onBroken);
    return { endpoint: `http://127.0.0.1:${port}`, close };
  } catch (error) {
    await close();
    throw error;
  }
}
