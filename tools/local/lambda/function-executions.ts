import { availableParallelism } from "node:os";
import type { Invocation } from "./function-thread.ts";
import { InvocationError, throttledInvocation } from "./invocation-error.ts";

/** Longer than API Gateway waits for a function, so that callers see the gateway's time-out rather than this one. */
const waitingMilliseconds = 35_000;
/** One per processor, and one more because another may be waiting for a table. */
const defaultAtOnce = availableParallelism() + 1;
/** How often it is checked whether executions wait for readers and so use no processor time. */
const unreadMilliseconds = 500;

/** How many executions a function may have. */
export interface ExecutionLimits {
  /** Executions that wait for the reader of their stream do not count. */
  readonly maxAtOnce?: number | undefined;
  /** Lambda refuses more events than this at once; none, if undefined. */
  readonly reservedConcurrency?: number | undefined;
}

interface WaitingEvent {
  readonly begin: () => void;
  readonly fail: (error: unknown) => void;
}

/** The executions of one function: so many at once, while further events wait in the order in which they came. */
export class FunctionExecutions {
  readonly #maxAtOnce: number;
  readonly #reserved: number;
  readonly #running = new Set<Invocation>();
  readonly #waiting = new Set<WaitingEvent>();
  #unreadTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor({ maxAtOnce = defaultAtOnce, reservedConcurrency }: ExecutionLimits = {}) {
    this.#maxAtOnce = maxAtOnce;
    this.#reserved = reservedConcurrency ?? Number.POSITIVE_INFINITY;
  }

  /**
   * Runs an event when it is its turn.
   * @throws {InvocationError} at once, as Lambda does, if no reserved execution is left; when the event has waited too
   * long; and when the function has been closed.
   */
  begin(run: () => Invocation): Promise<Invocation> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(stopped());
      if (this.#running.size + this.#waiting.size >= this.#reserved) return reject(throttled());
      const timer = setTimeout(() => {
        this.#waiting.delete(waiting);
        reject(throttled());
      }, waitingMilliseconds);
      const waiting: WaitingEvent = {
        begin: () => {
          clearTimeout(timer);
          resolve(this.#run(run));
        },
        fail: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
      this.#waiting.add(waiting);
      this.#serve();
    });
  }

  /** Lets waiting events fail. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#unreadTimer);
    for (const { fail } of this.#waiting) fail(stopped());
    this.#waiting.clear();
  }

  #serve(): void {
    for (const waiting of this.#waiting) {
      if (this.#busy() >= this.#maxAtOnce) break;
      this.#waiting.delete(waiting);
      waiting.begin();
    }
    if (this.#waiting.size === 0 || this.#isClosed) return;
    this.#unreadTimer ??= setTimeout(() => {
      this.#unreadTimer = undefined;
      this.#serve();
    }, unreadMilliseconds).unref();
  }

  #run(run: () => Invocation): Invocation {
    const invocation = run();
    this.#running.add(invocation);
    void invocation.ended.then(() => {
      this.#running.delete(invocation);
      this.#serve();
    });
    return invocation;
  }

  /**
   * The number of executions that may use processor time. Those that wait for readers do not count, so that slow readers
   * do not hold up other callers; on Lambda, too, each of these has an environment of its own.
   */
  #busy(): number {
    if (this.#running.size < this.#maxAtOnce) return this.#running.size;
    return [...this.#running].filter((invocation) => !invocation.isUnread()).length;
  }
}

function throttled(): InvocationError {
  return new InvocationError(throttledInvocation, "Rate Exceeded.");
}

function stopped(): InvocationError {
  return new InvocationError("Runtime.ExitError", "The service is stopping");
}

/** The size of libuv's thread pool, which files and hashes share: https://docs.libuv.org/en/v1.x/threadpool.html */
const poolThreads = 4;

/**
 * Maximum number of concurrent logins. A hash occupies a processor and one thread of the pool that all functions share.
 * Two threads stay free; otherwise loading a function would wait behind all logins.
 */
export function hashesAtOnce(): number {
  const size = Number(process.env.UV_THREADPOOL_SIZE) || poolThreads;
  return Math.max(1, Math.min(availableParallelism(), size - 2));
}
