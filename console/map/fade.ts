/** Lets the states of cells blend from one hour to the next, as long as the browser draws that fast enough. */

/** The steps between two hours, and the longest frame in which they are taken for smooth, in milliseconds. */
const steps = 4;
const smoothMilliseconds = 34;

/** The state of a cell before its first hour is shown. */
const unknownState = -9;

const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

/** The states of an answer's cells. */
export class Fade {
  readonly #set: (id: number, state: number) => void;
  #shown = new Float32Array();
  #frame: number | undefined;
  /** Whether the last blend was drawn smoothly. */
  #isSmooth = true;

  /** @param set changes the state of a cell on the map */
  constructor(set: (id: number, state: number) => void) {
    this.#set = set;
  }

  /** Starts again with cells whose states are unknown. */
  reset(count: number): void {
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    this.#shown = new Float32Array(count).fill(unknownState);
  }

  /** Changes the states, at once or in steps of a frame each. */
  to(states: readonly number[], fades: boolean): void {
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    this.#frame = undefined;
    if (!fades || !this.#isSmooth || reducedMotion.matches) {
      this.#apply(states, 1);
      return;
    }
    let [step, last] = [0, performance.now()];
    const start = last;
    const next = () => {
      step++;
      this.#apply(states, 1 / (steps - step + 1));
      last = performance.now();
      if (step < steps) this.#frame = requestAnimationFrame(next);
      else this.#isSmooth = (last - start) / steps <= smoothMilliseconds;
    };
    this.#frame = requestAnimationFrame(next);
  }

  /** Moves each state a share of the way. To and from cells without a class there is no way: these change at once. */
  #apply(states: readonly number[], share: number): void {
    for (const [id, state] of states.entries()) {
      const shown = this.#shown[id] ?? unknownState;
      if (shown === state) continue;
      const next = share === 1 || state < 0 || shown < 0 ? state : shown + share * (state - shown);
      this.#shown[id] = next;
      this.#set(id, next);
    }
  }
}
