/** Milliseconds that one attempt may take. */
export interface Limits {
  /** To look the name up. */
  readonly lookup: number;
  /** To connect to one address, TLS included. */
  readonly connect: number;
  /** In all, from the look-up to the status of the answer, … */
  readonly attempt: number;
  /** … and more for each MiB that the sink has taken. */
  readonly perMebibyte: number;
  /**
   * Until the sink takes the next chunk; from the last one to the status of its answer, or, after a status of 2xx that
   * came early, to the end of the connection.
   */
  readonly stall: number;
  /** To receive the rest of the answer, which is discarded. */
  readonly answer: number;
}

export const defaultLimits: Limits = {
  lookup: 3_000,
  connect: 3_000,
  attempt: 15_000,
  perMebibyte: 1_000,
  stall: 10_000,
  answer: 1_000,
};

/** The error of an attempt that this side aborts. */
export class AttemptAborted extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

const bytesPerMebibyte = 1_048_576;

/** Limits the time of one attempt; its signal aborts with the reason why the attempt failed. */
export class AttemptTimer {
  readonly limits: Limits;
  readonly #outer: AbortSignal | undefined;
  readonly #ending = new AbortController();
  readonly #started = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #bytes = 0;

  constructor(limits: Limits, outer: AbortSignal | undefined) {
    this.limits = limits;
    this.#outer = outer;
    outer?.addEventListener("abort", this.#abort);
    if (outer?.aborted) this.#abort();
    this.expectProgress(Number.POSITIVE_INFINITY);
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Restarts the timer: the attempt aborts without progress in so many milliseconds, or when its own time is up. */
  expectProgress(milliseconds: number): void {
    clearTimeout(this.#timer);
    const { attempt, perMebibyte } = this.limits;
    const max = attempt + (this.#bytes / bytesPerMebibyte) * perMebibyte;
    const left = this.#started + max - performance.now();
    const code = milliseconds < left ? "STALLED" : "OVERTIME";
    this.#timer = setTimeout(
      () => this.#ending.abort(new AttemptAborted(code)),
      Math.max(0, Math.min(milliseconds, left)),
    );
  }

  /** Counts bytes that the sink has taken, which extend the time of the attempt. */
  count(bytes: number): void {
    this.#bytes += bytes;
  }

  /**
   * Runs a step with a time limit of its own, in milliseconds, within the limits of the attempt.
   * @param step gets a signal that aborts when either limit is reached.
   * @returns the result of the step, or the error that ended it.
   */
  async within<Value>(
    milliseconds: number,
    code: string,
    step: (signal: AbortSignal) => Promise<Value>,
  ): Promise<Value | Error> {
    const ending = new AbortController();
    const end = () => ending.abort(this.signal.reason);
    const timer = setTimeout(() => ending.abort(new AttemptAborted(code)), milliseconds);
    this.signal.addEventListener("abort", end);
    try {
      this.signal.throwIfAborted();
      const ended = new Promise<never>((_, reject) => {
        ending.signal.addEventListener("abort", () => reject(ending.signal.reason));
      });
      return await Promise.race([step(ending.signal), ended]);
    } catch (error) {
      if (error instanceof Error) return error;
      throw error;
    } finally {
      clearTimeout(timer);
      this.signal.removeEventListener("abort", end);
    }
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.#abort);
  }

  readonly #abort = () => this.#ending.abort(new AttemptAborted("ABORTED"));
}
