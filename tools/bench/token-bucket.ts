/** How a bucket is filled. */
interface Filling {
  /** Tokens a second. */
  readonly rate: number;
  /** The most that it holds. */
  readonly burst: number;
}

/** The token bucket by which AWS throttles: full at first, refilled steadily. */
export class TokenBucket {
  readonly #filling: Filling;
  #tokens: number;
  #filledAt: number;

  /** @param now milliseconds of a monotonic clock. */
  constructor(filling: Filling, now: number) {
    this.#filling = filling;
    this.#tokens = filling.burst;
    this.#filledAt = now;
  }

  /** Takes tokens, all or none; false if there are fewer. */
  take(now: number, tokens = 1): boolean {
    const { rate, burst } = this.#filling;
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#filledAt) / 1_000) * rate);
    this.#filledAt = now;
    if (this.#tokens < tokens) return false;
    this.#tokens -= tokens;
    return true;
  }

  /** Takes tokens even if there are fewer: the next ones are refilled later. */
  charge(tokens: number): void {
    this.#tokens -= tokens;
  }
}
