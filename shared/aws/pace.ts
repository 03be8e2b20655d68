/** How a call ended. */
export type CallEnd = "done" | "throttled" | "failed";

/** The permission to make a call. */
export interface Turn {
  /** To be called once, when the call has ended. */
  readonly end: (end: CallEnd) => void;
}

/**
 * Limits concurrent calls by additive increase and multiplicative decrease, as TCP does: the limit grows by one after
 * as many calls as it allows, and is halved when a call is throttled. Calls that began before the last decrease do not
 * decrease it again.
 */
export class Pace {
  readonly #max: number;
  #limit: number;
  #underWay = 0;
  #decreases = 0;
  readonly #waiting: (() => void)[] = [];

  /** @param max the maximum of concurrent calls. */
  constructor(max: number, first = max / 4) {
    this.#max = max;
    this.#limit = first;
  }

  /** The current limit of concurrent calls, at least 1. */
  get limit(): number {
    return Math.max(1, Math.floor(this.#limit));
  }

  /** Waits until another call may be made; calls are made in the order in which they asked. */
  async turn(): Promise<Turn> {
    if (this.#underWay >= this.limit) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#underWay++;
    const begun = this.#decreases;
    return { end: (end) => this.#end(end, begun) };
  }

  #end(end: CallEnd, begun: number): void {
    if (end === "done") this.#limit = Math.min(this.#max, this.#limit + 1 / this.#limit);
    if (end === "throttled" && begun === this.#decreases) {
      this.#limit = Math.max(1, this.#limit / 2);
      this.#decreases++;
    }
    this.#underWay--;
    while (this.#underWay < this.limit && this.#waiting.length > 0) {
      this.#underWay++;
      this.#waiting.shift()?.();
    }
  }
}
