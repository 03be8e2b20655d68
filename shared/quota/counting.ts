import { Breaker } from "../aws/breaker.ts";
import { hasAnswered, Unanswered } from "../aws/database-client.ts";
import { timeLimit } from "../environment.ts";
import { Unavailable } from "../errors.ts";
import type { RateLimitResult } from "./quota.ts";

/** How long the writes of a request's counts may take; longer for an environment's first, which makes the connection. */
export const countMilliseconds = 200;

/** What a later count of a request has at least, although those before have taken the time. */
const leastMilliseconds = 50;

/** A request that is not counted. */
export interface NotCounted {
  /** What happened to its call; absent if none was made, as DynamoDB did not answer those before. */
  readonly cause?: string;
  /** Whether no call is made from now on, for a while. */
  readonly isPausing?: boolean;
}

const breaker = new Breaker(() => performance.now(), Math.random);

/** Whether this environment has begun a count, or has found before that DynamoDB does not answer. */
let hasTried = false;

/** Notes that DynamoDB did not answer while the function was loaded, so that no count waits for the connection. */
export function noteUnanswered(): void {
  hasTried = true;
  breaker.end(false);
}

/**
 * Counts one request, in a fifth of a second or not at all: it is served although it is not counted, and must hardly wait
 * for a counter that does not answer.
 */
export class Counting {
  readonly #signal: AbortSignal;
  #spentMilliseconds = 0;

  /** @param signal of the request. */
  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Makes one count of the request, after those before. */
  async try(
    count: (signal: AbortSignal) => Promise<RateLimitResult>,
  ): Promise<{ readonly counted: RateLimitResult } | NotCounted> {
    if (!breaker.begin()) return {};
    const isLimited = hasTried || hasAnswered();
    hasTried = true;
    const started = performance.now();
    try {
      const counted = await count(isLimited ? this.#inTime() : this.#signal);
      breaker.end(true);
      return { counted };
    } catch (error) {
      const isPausing = breaker.end(!(error instanceof Unanswered));
      if (!(error instanceof Unavailable)) throw error;
      return { cause: error.message, isPausing };
    } finally {
      if (isLimited) this.#spentMilliseconds += performance.now() - started;
    }
  }

  /** The count's own limit alone: joined with the request's signal, it costs a twelfth of a local request's CPU. */
  #inTime(): AbortSignal {
    const left = Math.floor(timeLimit(countMilliseconds) - this.#spentMilliseconds);
    return AbortSignal.timeout(Math.max(left, timeLimit(leastMilliseconds)));
  }
}
