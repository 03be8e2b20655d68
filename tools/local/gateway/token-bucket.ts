import type { MethodThrottling } from "../template/method-settings.ts";

/** The token bucket by which API Gateway throttles a method: full at first, a token a request, refilled steadily. */
export class TokenBucket {
  readonly #throttling: MethodThrottling;
  #tokens: number;
  #filledAt: number;

  /** @param now milliseconds, of a clock that never goes back. */
  constructor(throttling: MethodThrottling, now: number) {
    this.#throttling = throttling;
    this.#tokens = throttling.burst;
    this.#filledAt = now;
  }

  /** Takes a token; false when there is none. */
  take(now: number): boolean {
    const { rate, burst } = this.#throttling;
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#filledAt) / 1_000) * rate);
    this.#filledAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
