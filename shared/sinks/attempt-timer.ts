/** Time limits of one attempt, in milliseconds. */
export interface Limits {
  /** Looking up the name. */
  readonly lookup: number;
  /** Connecting to one address, including TLS. */
  readonly connect: number;
  /** The whole attempt, from the look-up to the status of the response, … */
  readonly attempt: number;
  /** … plus this for each MiB that the sink has read. */
  readonly perMebibyte: number;
  /**
   * Until the sink reads the next chunk; after the last one, until the status of its response or, after an early 2xx,
   * until the end of the connection.
   */
  readonly stall: number;
  /** Receiving the rest of the response, which is discarded. */
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

/** The attempt was aborted by this side. */
export class AttemptAborted extends Error {
  readonly code: string;

  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

const bytesPerMebibyte = 1_048_576;

/** Limits the time of one attempt; its signal aborts with the reason for which the attempt failed. */
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

  /** Restarts the timer: the attempt aborts if there is no progress within this time, or when its total time is up. */
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

  /** Counts bytes that the sink has read, which extend the total time of the attempt. */
  count(bytes: number): void {
    this.#bytes += bytes;
  }

  /**
   * Runs a step with a time limit of its own, in milliseconds, within the limits of the attempt.
   * @param step receives a signal that aborts when either limit is reached.
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
