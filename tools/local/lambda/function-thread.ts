import { existsSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import * as z from "zod";
import type { LocalFunction } from "../template/template.ts";

/** https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html#runtimes-lifecycle-ib */
const initializationMilliseconds = 10_000;

const saidSchema = z.union([
  z.object({ ready: z.literal(true) }),
  z.object({ result: z.string() }),
  z.object({ errorType: z.string(), errorMessage: z.string() }),
]);
type Said = z.output<typeof saidSchema>;

/** Where the logs of functions go. */
export interface LogSink {
  write(chunk: string | Uint8Array): unknown;
}

/** An event that a function did not answer; members as in the response of Lambda. */
export class InvocationError extends Error {
  readonly errorType: string;

  constructor(errorType: string, message: string) {
    super(message);
    this.name = "InvocationError";
    this.errorType = errorType;
  }
}

/** One execution environment of a function: a thread that takes one event at a time. */
export class FunctionThread {
  /** Settles when the handler is loaded. A function whose module cannot be loaded rejects it. */
  readonly ready: Promise<void>;
  readonly #definition: LocalFunction;
  readonly #worker: Worker;
  #ended: InvocationError | undefined;
  #listener:
    | { readonly hear: (said: Said) => void; readonly fail: (error: InvocationError) => void }
    | undefined;

  /** @param onEnd is told once when the thread takes no more events. */
  constructor(
    definition: LocalFunction,
    environment: Readonly<Record<string, string>>,
    logs: LogSink,
    onEnd: () => void = () => {},
  ) {
    this.#definition = definition;
    this.#worker = new Worker(new URL("./function-runtime.mjs", import.meta.url), {
      workerData: handlerOf(definition),
      env: { ...environment },
      execArgv: [],
      name: definition.name,
      resourceLimits: { maxOldGenerationSizeMb: definition.memoryMegabytes },
      stdout: true,
      stderr: true,
    });
    this.#worker.stdout.on("data", (chunk: Uint8Array) => logs.write(chunk));
    this.#worker.stderr.on("data", (chunk: Uint8Array) => logs.write(chunk));
    this.#worker.on("message", (message) => this.#hear(message));
    this.#worker.on("error", (error: unknown) => this.#end(crash(error)));
    this.#worker.on("exit", (code) => {
      this.#end(new InvocationError("Runtime.ExitError", `Runtime exited with exit status ${code}`));
      onEnd();
    });
    this.ready = this.#listen(initializationMilliseconds, () => {
      const seconds = (initializationMilliseconds / 1000).toFixed(2);
      return new InvocationError("Sandbox.Timedout", `Initialization timed out after ${seconds} seconds`);
    }).then(() => {});
  }

  /** Whether it can take another event. */
  get isAlive(): boolean {
    return this.#ended === undefined;
  }

  /**
   * Gives the handler an event, as JSON text, and returns its result, as JSON text.
   * @throws {InvocationError} when the handler fails, ends its thread or takes longer than the function's time-out,
   * which also ends the thread.
   */
  async run(event: string, requestId: string): Promise<string> {
    const { name, arn, memoryMegabytes, timeoutSeconds } = this.#definition;
    const answer = this.#listen(timeoutSeconds * 1000, () => {
      return new InvocationError(
        "Sandbox.Timedout",
        `Task timed out after ${timeoutSeconds.toFixed(2)} seconds`,
      );
    });
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
    const said = await answer;
    if ("result" in said) return said.result;
    if ("errorType" in said) throw new InvocationError(said.errorType, said.errorMessage);
    throw new InvocationError("Runtime.ProtocolError", "The runtime answered out of turn");
  }

  /** Ends the thread, whatever it is doing. */
  async stop(): Promise<void> {
    this.#end(new InvocationError("Runtime.ExitError", "The execution environment was stopped"));
    await this.#worker.terminate();
  }

  #listen(milliseconds: number, late: () => InvocationError): Promise<Said> {
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
      this.#listener = { hear: settle(resolve), fail: settle(reject) };
    });
  }

  #hear(message: unknown): void {
    const said = saidSchema.safeParse(message);
    // Code of the function can reach the same port; what is not ours is not an answer.
    if (said.success) this.#listener?.hear(said.data);
  }

  #end(reason: InvocationError): void {
    this.#ended ??= reason;
    this.#listener?.fail(this.#ended);
  }
}

function crash(error: unknown): InvocationError {
  return error instanceof Error
    ? new InvocationError(error.name, error.message)
    : new InvocationError(typeof error, String(error));
}

/** The file and the export that `index.handler` names. */
function handlerOf({ logicalId, handler, assetDirectory }: LocalFunction) {
  const dot = handler.lastIndexOf(".");
  const module = join(assetDirectory, handler.slice(0, dot));
  const file = [".mjs", ".js", ".cjs"]
    .map((extension) => module + extension)
    .find((path) => existsSync(path));
  if (file === undefined) throw new Error(`${logicalId} has no module for its handler ${handler}`);
  return { file, exportName: handler.slice(dot + 1) };
}
