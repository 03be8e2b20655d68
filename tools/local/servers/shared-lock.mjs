/** A readers–writer lock: many share it or one holds it alone, in the order of the requests. */
export class SharedLock {
  #holders = 0;
  #isExclusive = false;
  #waiting = [];

  /** Runs beside everything else that shares the lock. */
  shared(run) {
    return this.#enqueue(run, false);
  }

  /** Runs alone. */
  exclusive(run) {
    return this.#enqueue(run, true);
  }

  #enqueue(run, isExclusive) {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ isExclusive, run: () => run().then(resolve, reject) });
      this.#next();
    });
  }

  #next() {
    for (let [first] = this.#waiting; first !== undefined; [first] = this.#waiting) {
      if (this.#isExclusive || (first.isExclusive && this.#holders > 0)) return;
      this.#waiting.shift();
      this.#holders++;
      this.#isExclusive = first.isExclusive;
      void first.run().then(() => {
        this.#holders--;
        this.#isExclusive = false;
        this.#next();
      });
    }
  }
}
