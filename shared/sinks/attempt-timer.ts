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
  /** For the rest of the answer, which nobody reads. */
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

/** The end of an attempt that this side aborts. */
export class AttemptAborted extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

const bytesPerMebibyte = 1_048_576;

/** The time of one attempt; its signal aborts with the error that the attempt has failed with. */
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

  /** Starts to wait for something that may take so many milliseconds, and the attempt no longer than it may. */
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

  /** Counts what the sink has taken. */
  count(bytes: number): void {
    this.#bytes += bytes;
  }

  /**
   * What a step comes to within so many milliseconds of the attempt, or the error that ended it first. Its signal
   * aborts when nothing waits for it any more.
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
