/** Callers that are remembered: some 200 KB. */
const maxCallers = 1_000;

/**
 * Remembers callers that have used up a minute, whom an execution environment then refuses without asking the table. The
 * count of a minute never decreases, so what was used up stays so.
 */
export class UsedMinutes {
  /** The caller that was remembered first is the first. */
  readonly #used = new Map<string, { readonly minute: number; readonly count: number }>();

  /** @param minute by the clock of this environment, which may be behind that of the one which opened the minute. */
  has(caller: string, minute: number, rate: number): boolean {
    const used = this.#used.get(caller);
    return used !== undefined && used.minute >= minute && used.count >= rate;
  }

  /** Remembers a caller; if there are too many, the one that was remembered first is forgotten. */
  add(caller: string, minute: number, count: number): void {
    this.#used.delete(caller);
    this.#used.set(caller, { minute, count });
    const [first] = this.#used.keys();
    if (this.#used.size > maxCallers && first !== undefined) this.#used.delete(first);
  }
}
