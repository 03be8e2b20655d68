import { hasAnswered } from "../aws/database-client.ts";
import { Unanswered } from "../aws/direct-update.ts";
import { timeLimit } from "../environment.ts";
import { Unavailable } from "../errors.ts";
import { Breaker } from "./breaker.ts";
import type { RateLimitResult } from "./quota.ts";

/** How long all writes of a count may take; longer before DynamoDB has answered, as they then make the connection. */
export const countMilliseconds = 200;

/** A request that is not counted. */
export interface NotCounted {
  /** What happened to its call; absent if none was made, as DynamoDB did not answer those before. */
  readonly cause?: string;
  /** Whether no call is made from now on, for a while. */
  readonly isPausing?: boolean;
}

const breaker = new Breaker(() => performance.now(), Math.random);

/**
 * Counts, in a fifth of a second or not at all: a request is served although it is not counted, and must hardly wait for
 * a counter that does not answer.
 */
export async function tryToCount(
  count: (signal: AbortSignal) => Promise<RateLimitResult>,
  signal: AbortSignal,
): Promise<{ readonly counted: RateLimitResult } | NotCounted> {
  if (!breaker.begin()) return {};
  const inTime = hasAnswered()
    ? AbortSignal.any([signal, AbortSignal.timeout(timeLimit(countMilliseconds))])
    : signal;
  try {
    const counted = await count(inTime);
    breaker.end(true);
    return { counted };
  } catch (error) {
    const isPausing = breaker.end(!(error instanceof Unanswered));
    if (!(error instanceof Unavailable)) throw error;
    return { cause: error.message, isPausing };
  }
}
