/** Time that passes only when all work waits. */
export class VirtualTime {
  /** The current time in milliseconds. */
  now = 0;
  readonly #waiting: { readonly at: number; readonly resume: () => void }[] = [];

  async wait(milliseconds: number): Promise<void> {
    await new Promise<void>((resume) => void this.#waiting.push({ at: this.now + milliseconds, resume }));
  }

  /** Advances the time until the work is done. */
  async pass<Value>(work: Promise<Value>): Promise<Value> {
    let isOver = false;
    const end = () => {
      isOver = true;
    };
    work.then(end, end);
    for (;;) {
      await new Promise(setImmediate);
      if (isOver) return await work;
      this.#waiting.sort((one, other) => one.at - other.at);
      const next = this.#waiting.shift();
      if (next === undefined) throw new Error("nobody waits");
      this.now = next.at;
      next.resume();
    }
  }
}
