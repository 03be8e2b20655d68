/** Calls in a row that are not answered until no further one is made. */
const tolerated = 2;

/** How long no call is made, at least and at most. */
const shortestMilliseconds = 500;
const longestMilliseconds = 1_500;

/**
 * Decides whether an execution environment makes a call, so that an outage of the other side costs its requests hardly
 * any time: after two unanswered calls in a row it makes none for a while, and then one that tries. A refusal is an
 * answer, so that nobody who is throttled stops the calls for others. Environments try at different times, by chance.
 */
export class Breaker {
  readonly #clock: () => number;
  readonly #random: () => number;
  #unanswered = 0;
  #openUntil = 0;
  #isTrying = false;

  /** @param clock in milliseconds; it must not go back. */
  constructor(clock: () => number, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Whether a call may be made; its end must be told to `end`. */
  begin(): boolean {
    if (this.#unanswered < tolerated) return true;
    if (this.#isTrying || this.#clock() < this.#openUntil) return false;
    this.#isTrying = true;
    return true;
  }

  /** Whether the call that was begun last tries, and must therefore be short. */
  get isTrying(): boolean {
    return this.#isTrying;
  }

  /** Ends a call. @returns whether no call is made from now on, for a while. */
  end(isAnswered: boolean): boolean {
    const wasTrying = this.#isTrying;
    this.#isTrying = false;
    this.#unanswered = isAnswered ? 0 : this.#unanswered + 1;
    // Calls that began together end one after the other: only the second opens it.
    const opens = this.#unanswered === tolerated || (wasTrying && !isAnswered);
    if (opens) {
      const spread = longestMilliseconds - shortestMilliseconds;
      this.#openUntil = this.#clock() + shortestMilliseconds + this.#random() * spread;
    }
    return opens;
  }
}
