import { existsSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { youngGeneration } from "../servers/thread-limits.ts";
import type { LocalFunction } from "../template/functions.ts";
import { InvocationError } from "./invocation-error.ts";
import { InvocationStream } from "./invocation-stream.ts";
import type { LogSink } from "./log-sink.ts";

/** The message after which a runtime is idle again: see `function-runtime.mjs`. */
type LastMessage =
  | { readonly ready: true }
  | { readonly result: string }
  | { readonly ended: true }
  | { readonly errorType: string; readonly errorMessage: string };

/** What a runtime sends. */
type RuntimeMessage = (LastMessage | { readonly chunk: Uint8Array; readonly isLast: boolean } | object) & {
  /** What the function has logged before. */
  readonly log?: readonly (string | Uint8Array)[];
};

/** An event that a handler is processing. */
export interface Invocation {
  /**
   * The result as JSON text, or the stream as soon as it begins.
   * @throws {InvocationError} if the handler fails first, ends its thread, or exceeds the function's time-out, which
   * also ends the thread. A stream that has begun ends with that error.
   */
  readonly answer: Promise<string | InvocationStream>;
  /** Resolves when the handler has finished, whether it succeeded or failed. */
  readonly ended: Promise<void>;
  /** Whether the handler is waiting for the reader of its stream. */
  readonly isUnread: () => boolean;
}

/** How a function's thread runs. */
export interface FunctionThreadOptions {
  /** Receives what the function writes. */
  readonly logs: LogSink;
  /** Is called once, when the thread has exited. */
  readonly onEnd?: () => void;
}

/** One execution environment of a function: a thread that processes one event at a time. */
export class FunctionThread {
  /** Resolves when the handler is loaded; rejects if its module cannot be loaded. */
  readonly ready: Promise<void>;
  readonly #definition: LocalFunction;
  readonly #worker: Worker;
  readonly #logs: LogSink;
  #ended: InvocationError | undefined;
  #listener:
    | {
        readonly onLast: (message: LastMessage) => void;
        readonly onChunk: InvocationStream["receive"];
        readonly fail: (error: InvocationError) => void;
      }
    | undefined;

  constructor(
    definition: LocalFunction,
    environment: Readonly<Record<string, string>>,
    { logs, onEnd = () => {} }: FunctionThreadOptions,
  ) {
    this.#definition = definition;
    this.#logs = logs;
    this.#worker = new Worker(new URL("./function-runtime.mjs", import.meta.url), {
      workerData: handlerOf(definition),
      env: { ...environment },
      execArgv: [],
      name: definition.name,
      resourceLimits: { ...youngGeneration, maxOldGenerationSizeMb: definition.memoryMegabytes },
      stdout: true,
      stderr: true,
    });
    this.#worker.stdout.on("data", (chunk: Uint8Array) => logs.write(chunk));
    this.#worker.stderr.on("data", (chunk: Uint8Array) => logs.write(chunk));
    this.#worker.on("message", (message) => this.#onMessage(message));
    this.#worker.on("error", (error: unknown) => this.#end(crash(error)));
    this.#worker.on("exit", (code) => {
      this.#end(new InvocationError("Runtime.ExitError", `Runtime exited with exit status ${code}`));
      onEnd();
    });
    const { initializationSeconds: seconds } = definition;
    this.ready = this.#listen(seconds * 1000, () => {
      const late = `Initialization timed out after ${seconds.toFixed(2)} seconds`;
      return new InvocationError("Sandbox.Timedout", late);
    }).then(() => {});
  }

  /** Whether it can take another event. */
  get isAlive(): boolean {
    return this.#ended === undefined;
  }

  /** Runs the handler with an event, given as JSON text. */
  run(event: string, requestId: string): Invocation {
    const { name, arn, memoryMegabytes, timeoutSeconds } = this.#definition;
    const stream = new InvocationStream(() => this.#worker.postMessage({ taken: requestId }));
    const late = () =>
      new InvocationError("Sandbox.Timedout", `Task timed out after ${timeoutSeconds.toFixed(2)} seconds`);
    const last = this.#listen(timeoutSeconds * 1000, late, (chunk, isLast) =>
      stream.receive(chunk, isLast),
    ).then(resultOf);
    const ended = last.then(
      () => stream.end(),
      (error: Error) => stream.end(error),
    );
    const context = {
      awsRequestId: requestId,
      functionName: name,
      functionVersion: "$LATEST",
      invokedFunctionArn: arn,
      memoryLimitInMB: String(memoryMegabytes),
      logGroupName: `/aws/lambda/${name}`,
      logStreamName: "local",
    };
    this.#worker.postMessage({ event, context, endsAt: Date.now() + timeoutSeconds * 1000 });
    const answer = Promise.race([stream.begun, last.then((result) => result ?? stream)]);
    return { answer, ended, isUnread: () => stream.isUnread };
  }

  /** Ends the thread even if it is processing an event. */
  async stop(): Promise<void> {
    this.#end(new InvocationError("Runtime.ExitError", "The execution environment was stopped"));
    await this.#worker.terminate();
  }

  /** Resolves with the message after which the thread is idle again. */
  #listen(
    milliseconds: number,
    late: () => InvocationError,
    onChunk: InvocationStream["receive"] = () => {},
  ): Promise<LastMessage> {
    return new Promise((resolve, reject) => {
      if (this.#ended) return reject(this.#ended);
      const timer = setTimeout(() => {
        this.#end(late());
        void this.#worker.terminate();
      }, milliseconds);
      const settle = <T>(settled: (value: T) => void) => {
        return (value: T) => {
          clearTimeout(timer);
          this.#listener = undefined;
          settled(value);
        };
      };
      this.#listener = { onLast: settle(resolve), onChunk, fail: settle(reject) };
    });
  }

  #onMessage(message: unknown): void {
    if (!isFromRuntime(message)) return;
    for (const line of message.log ?? []) this.#logs.write(line);
    if ("chunk" in message) this.#listener?.onChunk(message.chunk, message.isLast);
    if (isLastMessage(message)) this.#listener?.onLast(message);
  }

  #end(reason: InvocationError): void {
    this.#ended ??= reason;
    this.#listener?.fail(this.#ended);
  }
}

/** The function's own code can send messages by the same port, which are ignored. */
function isFromRuntime(message: unknown): message is RuntimeMessage {
  return typeof message === "object" && message !== null && "fromRuntime" in message;
}

/** Whether it is more than lines of the log. */
function isLastMessage(message: RuntimeMessage): message is LastMessage {
  return "ready" in message || "result" in message || "ended" in message || "errorType" in message;
}

/** The result as JSON text; undefined for a stream. */
function resultOf(message: LastMessage): string | undefined {
  if ("result" in message) return message.result;
  if ("ended" in message) return undefined;
  if ("errorType" in message) throw new InvocationError(message.errorType, message.errorMessage);
  throw new InvocationError("Runtime.ProtocolError", "The runtime answered out of turn");
}

function crash(error: unknown): InvocationError {
  return error instanceof Error
    ? new InvocationError(error.name, error.message)
    : new InvocationError(typeof error, String(error));
}

/** The file and the export that `index.handler` names. */
function handlerOf({ logicalId, handler, assetDirectory }: LocalFunction) {
  const dot = handler.lastIndexOf(".");
  const file = join(assetDirectory, `${handler.slice(0, dot)}.mjs`);
  if (!existsSync(file)) throw new Error(`${logicalId} has no module for its handler ${handler}`);
  return { file, exportName: handler.slice(dot + 1) };
}
