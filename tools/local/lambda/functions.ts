import { text } from "node:stream/consumers";
import { FunctionExecutions } from "./function-executions.ts";
import type { Invocation, InvokedFunction } from "./function-thread.ts";
import { type FunctionGroup, FunctionThreads } from "./function-threads.ts";
import { InvocationError } from "./invocation-error.ts";
import { InvocationStream } from "./invocation-stream.ts";
import type { LogSink } from "./log-sink.ts";

/**
 * Maximum size of an event and of a result, but not of a streamed response:
 * https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
 */
const payloadBytes = 6 * 1024 * 1024;

/** A function and how many of its events may run. */
export interface ServedFunction extends InvokedFunction {
  readonly maxAtOnce: number | undefined;
  readonly reservedConcurrency: number | undefined;
}

/** How an event is run. */
export interface InvokeOptions {
  /** The variables of the function, which then has a thread of its own for this event. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** The functions of a service. */
export class Functions {
  readonly #threads: FunctionThreads;
  #served: ReadonlyMap<string, { readonly called: ServedFunction; readonly executions: FunctionExecutions }>;

  /** @param blockedMilliseconds see `FunctionThreadOptions`. */
  constructor(
    functions: readonly ServedFunction[],
    groups: readonly FunctionGroup[],
    {
      logs,
      blockedMilliseconds,
    }: { readonly logs: LogSink; readonly blockedMilliseconds?: number | undefined },
  ) {
    this.#threads = new FunctionThreads(logs, blockedMilliseconds);
    this.#threads.begin(groups);
    this.#served = this.#executionsOf(functions);
  }

  /**
   * Loads all handlers, so that no event waits for its own.
   * @throws {Error} if one cannot be loaded.
   */
  async load(): Promise<void> {
    await this.#threads.load();
  }

  /**
   * Serves other functions for all later events, once their handlers are loaded.
   * @throws {Error} if a handler cannot be loaded; the former functions are then served as before.
   */
  async replace(functions: readonly ServedFunction[], groups: readonly FunctionGroup[]): Promise<void> {
    await this.#threads.replace(groups);
    this.#served = this.#executionsOf(functions);
  }

  /**
   * Invokes a function with one event. Event and result are passed as JSON, so undefined members are lost. The result of
   * a streaming handler is the text of the whole stream.
   * @throws {InvocationError} if the function fails.
   */
  async invoke(id: string, event: unknown, options?: InvokeOptions): Promise<unknown> {
    const answer = await this.#answer(id, event, options);
    const result = typeof answer === "string" ? answer : await text(answer);
    if (Buffer.byteLength(result) > payloadBytes) {
      throw new InvocationError("Function.ResponseSizeTooLarge", "The result is larger than 6 MB.");
    }
    return typeof answer === "string" ? JSON.parse(result) : result;
  }

  /**
   * Invokes a function with one event, and returns its response while it is being written. The response of a handler that
   * does not stream is its result as JSON.
   * @throws {InvocationError} if the function fails before it writes anything.
   */
  async stream(id: string, event: unknown, options?: InvokeOptions): Promise<InvocationStream> {
    const answer = await this.#answer(id, event, options);
    if (typeof answer !== "string") return answer;
    const stream = new InvocationStream(() => {});
    stream.receive(Buffer.from(answer));
    stream.end();
    return stream;
  }

  /** Ends everything; running and waiting events fail. */
  async close(): Promise<void> {
    for (const { executions } of this.#served.values()) executions.close();
    await this.#threads.close();
  }

  async #answer(
    id: string,
    event: unknown,
    { environment }: InvokeOptions = {},
  ): Promise<string | InvocationStream> {
    const served = this.#served.get(id);
    if (served === undefined) throw new Error(`there is no function ${id}`);
    const { called, executions } = served;
    const sent = eventText(event);
    const begun =
      environment === undefined
        ? executions.begin(() => this.#threads.threadOf(called).run(called, sent))
        : this.#runAlone(called, sent, environment);
    const { answer } = await begun;
    return await answer;
  }

  #executionsOf(functions: readonly ServedFunction[]) {
    const former = this.#served;
    const entries = functions.map((called) => {
      const executions = former?.get(called.id)?.executions ?? new FunctionExecutions(called);
      return [called.id, { called, executions }] as const;
    });
    return new Map(entries);
  }

  #runAlone(
    called: InvokedFunction,
    event: string,
    environment: Readonly<Record<string, string>>,
  ): Invocation {
    const thread = this.#threads.threadOf(called, environment);
    const invocation = thread.run(called, event);
    void invocation.ended.then(() => thread.stop());
    return invocation;
  }
}

function eventText(event: unknown): string {
  const sent = JSON.stringify(event) ?? "null";
  if (Buffer.byteLength(sent) > payloadBytes) {
    throw new InvocationError("RequestEntityTooLargeException", "The event is larger than 6 MB.");
  }
  return sent;
}
