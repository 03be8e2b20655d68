/**
 * The bytes that a function streams to one reader. The function waits until each chunk but the last has been read. If
 * the reader stops early, the function is not interrupted: the rest of its output is dropped.
 * https://docs.aws.amazon.com/lambda/latest/dg/configuration-response-streaming.html
 */
export class InvocationStream implements AsyncIterable<Uint8Array> {
  /** Resolves with the first chunk. */
  readonly begun: Promise<InvocationStream>;
  /** Resolves when the function has finished or the reader has stopped. */
  readonly ended: Promise<void>;
  #begin: () => void = () => {};
  #hasEnded: () => void = () => {};
  readonly #take: () => void;
  #chunk: Uint8Array | undefined;
  #hasLast = false;
  #end: { readonly error?: Error } | undefined;
  #wake: () => void = () => {};

  /** @param take tells the function that its chunk has been taken. */
  constructor(take: () => void) {
    this.#take = take;
    this.begun = new Promise((resolve) => {
      this.#begin = () => resolve(this);
    });
    this.ended = new Promise((resolve) => {
      this.#hasEnded = resolve;
    });
  }

  /** Whether the function is waiting for the reader. */
  get isUnread(): boolean {
    return this.#chunk !== undefined && !this.#hasLast;
  }

  /**
   * Receives a chunk from the function, which then waits until the chunk is taken, unless it is the last.
   * @param isLast whether the chunk completes the stream; otherwise only `end` does.
   */
  receive(chunk: Uint8Array, isLast = false): void {
    this.#hasLast = isLast;
    if (this.#end === undefined) this.#chunk = chunk;
    else this.#take();
    this.#begin();
    this.#wake();
  }

  /** Ends the stream after the chunks received so far, with the error if one is given. */
  end(error?: Error): void {
    this.#end ??= error === undefined ? {} : { error };
    this.#hasEnded();
    this.#wake();
  }

  /** @throws {Error} the error that ended the stream. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        const chunk = this.#taken();
        if (chunk !== undefined) yield chunk;
        else if (this.#hasLast) return;
        else if (this.#end?.error !== undefined) throw this.#end.error;
        else if (this.#end !== undefined) return;
        else await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      this.end();
      this.#taken();
    }
  }

  #taken(): Uint8Array | undefined {
    const chunk = this.#chunk;
    this.#chunk = undefined;
    if (chunk !== undefined && !this.#hasLast) this.#take();
    return chunk;
  }
}
