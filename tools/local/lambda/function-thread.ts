import { randomUUID } from "node:crypto";
import { Worker } from "node:worker_threads";
import { functionArnOf, functionNameOf } from "../declared/aws-names.ts";
import { youngGeneration } from "../servers/thread-limits.ts";
import { InvocationError } from "./invocation-error.ts";
import { InvocationStream } from "./invocation-stream.ts";
import type { LogSink } from "./log-sink.ts";

/** The message that ends an invocation: see `function-runtime.mjs`. */
type LastMessage =
  | { readonly result: string }
  | { readonly ended: true }
  | { readonly errorType: string; readonly errorMessage: string };

/** What a runtime sends. */
interface RuntimeMessage {
  /** What functions have logged before. */
  readonly log?: readonly (string | Uint8Array)[];
  readonly loaded?: true;
  readonly requestId?: string;
  readonly chunk?: Uint8Array;
  readonly isLast?: boolean;
}

/** An event that a handler is processing. */
export interface Invocation {
  /**
   * The result as JSON text, or the stream as soon as it begins.
   * @throws {InvocationError} if the handler fails first, exceeds the function's time-out, or its thread ends. A stream
   * that has begun ends with that error.
   */
  readonly answer: Promise<string | InvocationStream>;
  /** Resolves when the handler has finished, whether it succeeded or failed, or its time is over. */
  readonly ended: Promise<void>;
  /** Whether the handler is waiting for the reader of its stream. */
  readonly isUnread: () => boolean;
}

/** A function as its events need it. */
export interface InvokedFunction {
  readonly id: string;
  readonly timeoutSeconds: number;
  readonly memoryMegabytes: number;
}

/** How a thread of functions runs. */
export interface FunctionThreadOptions {
  /** The files of the handlers by the ids of their functions. */
  readonly files: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string>>;
  /** Receives what the functions write. */
  readonly logs: LogSink;
  /** The least time after which a blocked event loop counts as such; four seconds, if absent. */
  readonly blockedMilliseconds?: number | undefined;
}

/** How often it is looked whether the event loop turns. */
const lookMilliseconds = 1_000;

/** How many times as long a thread may be busy with loading modules: on a busy machine that takes seconds. */
const loadingFactor = 10;

/** A thread with handlers of functions, each of which processes any number of events at a time. */
export class FunctionThread {
  readonly #loaded: Promise<void>;
  readonly #worker: Worker;
  readonly #logs: LogSink;
  readonly #turns = new Int32Array(new SharedArrayBuffer(4));
  readonly #loading = new Int32Array(new SharedArrayBuffer(4));
  readonly #heartbeat: NodeJS.Timeout;
  readonly #listeners = new Map<
    string,
    {
      readonly onLast: (message: LastMessage) => void;
      readonly onChunk: InvocationStream["receive"];
      readonly fail: (error: InvocationError) => void;
    }
  >();
  #onLoaded: () => void = () => {};
  #onFailed: (error: unknown) => void = () => {};
  #ended: InvocationError | undefined;
  #onIdle: () => void = () => {};

  constructor({ files, environment, logs, blockedMilliseconds = 4_000 }: FunctionThreadOptions) {
    this.#logs = logs;
    this.#worker = new Worker(new URL("./function-runtime.mjs", import.meta.url), {
      workerData: { files, turns: this.#turns, loading: this.#loading },
      env: { ...environment },
      execArgv: [],
      resourceLimits: youngGeneration,
      stdout: true,
      stderr: true,
    });
    this.#loaded = new Promise((resolve, reject) => {
      this.#onLoaded = resolve;
      this.#onFailed = reject;
    });
    // Whoever waits for it is told; an event fails by itself.
    this.#loaded.catch(() => {});
    this.#worker.stdout.on("data", (chunk: Uint8Array) => logs.write(chunk));
    this.#worker.stderr.on("data", (chunk: Uint8Array) => logs.write(chunk));
    this.#worker.on("message", (message) => this.#onMessage(message));
    this.#worker.on("error", (error: unknown) => this.#end(crash(error), error));
    this.#worker.on("exit", (code) => {
      this.#end(new InvocationError("Runtime.ExitError", `Runtime exited with exit status ${code}`));
    });
    this.#heartbeat = this.#watch(Math.ceil(blockedMilliseconds / lookMilliseconds));
  }

  /** Whether it can take another event. */
  get isAlive(): boolean {
    return this.#ended === undefined;
  }

  /**
   * Loads all handlers; without it, a handler is loaded for its first event.
   * @throws {Error} if one cannot be loaded, or the thread ends before.
   */
  async load(): Promise<void> {
    if (this.isAlive) this.#worker.postMessage({ load: true });
    await this.#loaded;
  }

  /** Runs a function's handler with an event, given as JSON text. */
  run({ id, timeoutSeconds, memoryMegabytes }: InvokedFunction, event: string): Invocation {
    const awsRequestId = randomUUID();
    const stream = new InvocationStream(() => this.#worker.postMessage({ taken: awsRequestId }));
    const late = () =>
      new InvocationError("Sandbox.Timedout", `Task timed out after ${timeoutSeconds.toFixed(2)} seconds`);
    const last = this.#listen(awsRequestId, timeoutSeconds * 1_000, late, (chunk, isLast) =>
      stream.receive(chunk, isLast),
    ).then(resultOf);
    const ended = last.then(
      () => stream.end(),
      (error: Error) => stream.end(error),
    );
    const name = functionNameOf(id);
    const context = {
      awsRequestId,
      functionName: name,
      functionVersion: "$LATEST",
      invokedFunctionArn: functionArnOf(id),
      memoryLimitInMB: String(memoryMegabytes),
      logGroupName: `/aws/lambda/${name}`,
      logStreamName: "local",
    };
    if (this.isAlive)
      this.#worker.postMessage({ id, event, context, endsAt: Date.now() + timeoutSeconds * 1_000 });
    const answer = Promise.race([stream.begun, last.then((result) => result ?? stream)]);
    return { answer, ended, isUnread: () => stream.isUnread };
  }

  /** Ends the thread once the events under way have ended. */
  async retire(): Promise<void> {
    if (this.#listeners.size > 0) await new Promise<void>((resolve) => (this.#onIdle = resolve));
    await this.stop();
  }

  /** Ends the thread even if it is processing events. */
  async stop(): Promise<void> {
    this.#end(new InvocationError("Runtime.ExitError", "The execution environment was stopped"));
    await this.#worker.terminate();
  }

  /** Ends the thread when its event loop has not turned between so many looks. */
  #watch(looks: number): NodeJS.Timeout {
    let seen = 0;
    let unchanged = 0;
    return setInterval(() => {
      const turns = Atomics.load(this.#turns, 0);
      unchanged = turns === seen ? unchanged + 1 : 0;
      seen = turns;
      const isLoading = turns === 0 || Atomics.load(this.#loading, 0) > 0;
      if (unchanged < (isLoading ? loadingFactor * looks : looks)) return;
      this.#end(new InvocationError("Runtime.Blocked", "The event loop was blocked"));
      void this.#worker.terminate();
    }, lookMilliseconds).unref();
  }

  /** Resolves with the message that ends the invocation. */
  #listen(
    requestId: string,
    milliseconds: number,
    late: () => InvocationError,
    onChunk: InvocationStream["receive"],
  ): Promise<LastMessage> {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(this.#ended);
      const timer = setTimeout(() => this.#listeners.get(requestId)?.fail(late()), milliseconds);
      const settle = <T>(settled: (value: T) => void) => {
        return (value: T) => {
          clearTimeout(timer);
          this.#listeners.delete(requestId);
          settled(value);
          if (this.#listeners.size === 0) this.#onIdle();
        };
      };
      this.#listeners.set(requestId, { onLast: settle(resolve), onChunk, fail: settle(reject) });
    });
  }

  #onMessage(message: unknown): void {
    if (!isFromRuntime(message)) return;
    const { log = [], loaded, requestId = "", chunk, isLast } = message;
    for (const line of log) this.#logs.write(line);
    if (loaded) this.#onLoaded();
    const listener = this.#listeners.get(requestId);
    if (chunk !== undefined && listener !== undefined) listener.onChunk(chunk, isLast);
    // What comes after an invocation's time is over is dropped.
    else if (chunk !== undefined && this.isAlive) this.#worker.postMessage({ taken: requestId });
    if (isLastMessage(message)) listener?.onLast(message);
  }

  #end(reason: InvocationError, cause: unknown = reason): void {
    this.#ended ??= reason;
    clearInterval(this.#heartbeat);
    this.#onFailed(cause);
    for (const listener of [...this.#listeners.values()]) listener.fail(this.#ended);
  }
}

/** The functions' own code can send messages by the same port, which are ignored. */
function isFromRuntime(message: unknown): message is RuntimeMessage {
  return typeof message === "object" && message !== null && "fromRuntime" in message;
}

function isLastMessage(message: RuntimeMessage): message is RuntimeMessage & LastMessage {
  return "result" in message || "ended" in message || "errorType" in message;
}

/** The result as JSON text; undefined for a stream. */
function resultOf(message: LastMessage): string | undefined {
  if ("result" in message) return message.result;
  if ("errorType" in message) throw new InvocationError(message.errorType, message.errorMessage);
  return undefined;
}

function crash(error: unknown): InvocationError {
  return error instanceof Error
    ? new InvocationError(error.name, error.message)
    : new InvocationError(typeof error, String(error));
}
