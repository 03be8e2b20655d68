import { randomUUID } from "node:crypto";
import { availableParallelism } from "node:os";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import type { LocalFunction } from "../template/functions.ts";
import { FunctionThread, type Invocation } from "./function-thread.ts";
import { IdleEnvironments } from "./idle-environments.ts";
import { InvocationError, throttledInvocation } from "./invocation-error.ts";
import { InvocationStream } from "./invocation-stream.ts";
import type { LogSink } from "./log-sink.ts";
import { type WaitingEvent, WaitingEvents } from "./waiting-events.ts";

/**
 * Maximum size of an event and of a result, but not of a streamed response:
 * https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
 */
const payloadBytes = 6 * 1024 * 1024;
/** Longer than API Gateway waits for a function, so that callers see the gateway's time-out rather than this one. */
const waitingMilliseconds = 35_000;
/** One per processor, and one more because another may be waiting for a table. */
const defaultThreads = availableParallelism() + 1;
/** How often a full pool checks for environments that wait for readers and so use no processor time. */
const unreadMilliseconds = 500;
const defaultIdleMilliseconds = 30_000;
/** While 100 requests came at once, starts that followed each other took a third of the time. */
const pauseMilliseconds = 1_000;

/** JSON text, or a stream of bytes. */
type Answer = string | InvocationStream;

/** How many environments a pool may have, and for how long. */
export interface FunctionPoolLimits {
  /** Environments that wait for the reader of their stream do not count. */
  readonly maxThreads?: number | undefined;
  /** The last environment ends after this time without an event. */
  readonly idleMilliseconds?: number | undefined;
}

/**
 * The execution environments of one function. Warm ones are reused; new ones are started while events are waiting and
 * the limit is not reached; broken and idle ones are removed. They are started one at a time, and beyond the number of
 * processors after a pause: a start takes a processor for longer than most events do, so a warm environment often
 * answers before a new one is ready.
 */
export class FunctionPool {
  readonly #definition: LocalFunction;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #logs: LogSink;
  readonly #maxThreads: number;
  readonly #threads = new Set<FunctionThread>();
  readonly #idle: IdleEnvironments;
  readonly #waiting = new WaitingEvents();
  readonly #running = new Set<Invocation>();
  /** Executions that may begin now: as many as are reserved less those under way, or any number. */
  #executionsLeft: number;
  #unreadTimer: NodeJS.Timeout | undefined;
  #isStarting = false;
  #isClosed = false;

  constructor(
    definition: LocalFunction,
    environment: Readonly<Record<string, string>>,
    logs: LogSink,
    { maxThreads = defaultThreads, idleMilliseconds = defaultIdleMilliseconds }: FunctionPoolLimits = {},
  ) {
    this.#definition = definition;
    this.#environment = environment;
    this.#logs = logs;
    this.#executionsLeft = definition.reservedConcurrency ?? Number.POSITIVE_INFINITY;
    this.#maxThreads = maxThreads;
    this.#idle = new IdleEnvironments(idleMilliseconds);
  }

  /**
   * Invokes the function with one event. Event and result are passed as JSON, so undefined members are lost. The result
   * of a streaming handler is the text of the whole stream.
   * @param overrides variables; the event then runs in an execution environment of its own.
   * @throws {InvocationError} if the function fails.
   */
  async invoke(event: unknown, overrides?: Readonly<Record<string, string>>): Promise<unknown> {
    return await bufferedResult(await this.#answer(eventText(event), overrides));
  }

  /**
   * Invokes the function with one event, and returns its response while it is being written. The response of a handler
   * that does not stream is its result as JSON.
   * @throws {InvocationError} if the function fails before it writes anything.
   */
  async stream(event: unknown, overrides?: Readonly<Record<string, string>>): Promise<InvocationStream> {
    const answer = await this.#answer(eventText(event), overrides);
    if (typeof answer !== "string") return answer;
    const stream = new InvocationStream(() => {});
    stream.receive(Buffer.from(answer));
    stream.end();
    return stream;
  }

  /** Ends every environment; running and waiting events fail. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#unreadTimer);
    for (let next = this.#waiting.next(); next !== undefined; next = this.#waiting.next())
      next.fail(stopped());
    await Promise.all([...this.#threads].map((thread) => thread.stop()));
  }

  /** Runs an event, or throttles it at once, as Lambda does, if no reserved execution is left. */
  async #answer(event: string, overrides?: Readonly<Record<string, string>>): Promise<Answer> {
    if (this.#isClosed) throw stopped();
    if (this.#executionsLeft === 0) throw throttled();
    this.#executionsLeft--;
    const giveBack = () => void this.#executionsLeft++;
    const begun = overrides === undefined ? this.#begin(event) : this.#beginAlone(event, overrides);
    void begun.then(({ ended }) => ended).then(giveBack, giveBack);
    const { answer } = await begun;
    return await answer;
  }

  #begin(event: string): Promise<Invocation> {
    const begun = this.#waiting.add(event, waitingMilliseconds, throttled);
    this.#serve();
    return begun;
  }

  async #beginAlone(event: string, overrides: Readonly<Record<string, string>>): Promise<Invocation> {
    const thread = this.#start({ ...this.#environment, ...overrides });
    try {
      await thread.ready;
    } catch (error) {
      await thread.stop();
      throw error;
    }
    const invocation = thread.run(event, randomUUID());
    void invocation.ended.then(() => thread.stop());
    return invocation;
  }

  /** Gives waiting events to idle environments; starts another environment if events are left. */
  #serve(): void {
    while (!this.#waiting.isEmpty) {
      const thread = this.#idle.take();
      if (thread === undefined) break;
      const next = this.#waiting.next();
      if (next !== undefined) void this.#run(thread, next);
    }
    if (this.#waiting.isEmpty || this.#isStarting || this.#isClosed) return;
    if (this.#busyThreads() < this.#maxThreads) void this.#grow();
    else this.#unreadTimer ??= setTimeout(() => this.#serveAgain(), unreadMilliseconds).unref();
  }

  #serveAgain(): void {
    this.#unreadTimer = undefined;
    this.#serve();
  }

  async #run(thread: FunctionThread, { event, begin }: WaitingEvent): Promise<void> {
    const invocation = thread.run(event, randomUUID());
    this.#running.add(invocation);
    begin(invocation);
    await invocation.ended;
    this.#running.delete(invocation);
    if (thread.isAlive) this.#idle.keep(thread);
    this.#serve();
  }

  async #grow(): Promise<void> {
    this.#isStarting = true;
    try {
      if (this.#busyThreads() >= availableParallelism())
        await wait(pauseMilliseconds, undefined, { ref: false });
      if (this.#waiting.isEmpty || this.#isClosed) return;
      const thread = this.#start(this.#environment);
      await thread.ready;
      this.#idle.keep(thread);
    } catch (error) {
      this.#waiting.next()?.fail(error);
    } finally {
      this.#isStarting = false;
      this.#serve();
    }
  }

  /**
   * The number of environments that may use processor time. Those that wait for readers do not count, so that slow
   * readers do not hold up other callers; on Lambda, too, each of these has an environment of its own.
   */
  #busyThreads(): number {
    const unread = [...this.#running].filter((invocation) => invocation.isUnread());
    return this.#threads.size - unread.length;
  }

  #start(environment: Readonly<Record<string, string>>): FunctionThread {
    const thread: FunctionThread = new FunctionThread(this.#definition, environment, {
      logs: this.#logs,
      onEnd: () => {
        this.#threads.delete(thread);
        this.#serve();
      },
    });
    this.#threads.add(thread);
    return thread;
  }
}

function eventText(event: unknown): string {
  const text = JSON.stringify(event) ?? "null";
  if (Buffer.byteLength(text) > payloadBytes) {
    throw new InvocationError("RequestEntityTooLargeException", "The event is larger than 6 MB.");
  }
  return text;
}

async function bufferedResult(answer: Answer): Promise<unknown> {
  const result = typeof answer === "string" ? answer : await text(answer);
  if (Buffer.byteLength(result) > payloadBytes) {
    throw new InvocationError("Function.ResponseSizeTooLarge", "The result is larger than 6 MB.");
  }
  return typeof answer === "string" ? JSON.parse(result) : result;
}

function throttled(): InvocationError {
  return new InvocationError(throttledInvocation, "Rate Exceeded.");
}

function stopped(): InvocationError {
  return new InvocationError("Runtime.ExitError", "The service is stopping");
}
