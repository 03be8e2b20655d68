/** Callers that are remembered: some 200 KB. */
const maxCallers = 1_000;

/**
 * Remembers callers that have used up a window, a minute or a day, whom an execution environment then refuses without
 * asking the table.
 */
export class UsedWindows {
  readonly #milliseconds: number;
  /** The caller that was remembered first is the first. */
  readonly #used = new Map<
    string,
    { readonly window: number; readonly count: number; readonly until: number }
  >();

  /** @param milliseconds for how long what was found counts, at most: endless where no count of a window decreases. */
  constructor(milliseconds = Number.POSITIVE_INFINITY) {
    this.#milliseconds = milliseconds;
  }

  /** @param window by the clock of this environment, which may be behind that of the one which opened the window. */
  has(caller: string, window: number, limit: number, now: Date): boolean {
    const used = this.#used.get(caller);
    return used !== undefined && used.window >= window && used.count >= limit && now.getTime() < used.until;
  }

  /** Remembers a caller; if there are too many, the one that was remembered first is forgotten. */
  add(caller: string, window: number, count: number, now: Date): void {
    this.#used.delete(caller);
    this.#used.set(caller, { window, count, until: now.getTime() + this.#milliseconds });
    const [first] = this.#used.keys();
    if (this.#used.size > maxCallers && first !== undefined) this.#used.delete(first);
  }
}
