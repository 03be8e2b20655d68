/** No chunk of a body is longer. */
export const chunkBytes = 65_536;

/** Bytes that the writing of an item may touch beyond its end. */
const overrun = 8;

/** Writes items from index `from` to index `to`, and returns their end; up to 7 more bytes may have been written. */
type PutItems = (view: DataView, at: number, from: number, to: number) => number;

/** Bytes that become chunks of at most 64 KiB. */
export class Chunks {
  readonly #bufferPool: Buffer[];
  /** The memory of chunks: tells our buffers from pooled ones, which have the same length. */
  readonly #memories = new WeakSet<ArrayBufferLike>();
  #full: Buffer[] = [];
  #chunk = this.#newChunk();
  #view = viewOf(this.#chunk);
  #at = 0;

  readonly #carriedBytes: number;

  /**
   * @param bufferPool whose buffers are used for chunks, if they were chunks of this body.
   * @param carriedBytes that a full chunk leaves to the next one, so that it ends within its last item.
   */
  constructor(bufferPool: Buffer[], carriedBytes = 0) {
    this.#bufferPool = bufferPool;
    this.#carriedBytes = carriedBytes;
  }

  addText(text: string): void {
    const bytes = Buffer.from(text);
    for (let from = 0; from < bytes.length; ) {
      const copied = bytes.copy(this.#chunk, this.#at, from);
      this.#at += copied;
      from += copied;
      if (from < bytes.length) this.#next();
    }
  }

  /**
   * Adds items, none of which is split between two chunks.
   * @param maxBytes of an item.
   */
  addItems(count: number, maxBytes: number, put: PutItems): void {
    for (let from = 0; from < count; ) {
      const fitting = Math.floor((chunkBytes - overrun - this.#at) / maxBytes);
      if (fitting <= 0) {
        this.#next();
        continue;
      }
      const to = Math.min(from + fitting, count);
      this.#at = put(this.#view, this.#at, from, to);
      from = to;
    }
  }

  /** Removes the comma after the last item. */
  dropComma(): void {
    this.#at--;
  }

  /** The chunks to which nothing will be added any more. */
  takeFull(): readonly Buffer[] {
    const full = this.#full;
    this.#full = [];
    return full;
  }

  /** What is left, once nothing will be added any more. */
  takeAll(): readonly Buffer[] {
    return [...this.takeFull(), this.#chunk.subarray(0, this.#at)];
  }

  #newChunk(): Buffer {
    const chunk = Buffer.allocUnsafeSlow(chunkBytes);
    this.#memories.add(chunk.buffer);
    return chunk;
  }

  #next(): void {
    const end = this.#at - this.#carriedBytes;
    const carried = this.#chunk.subarray(end, this.#at);
    this.#full.push(this.#chunk.subarray(0, end));
    // A chunk is cut off where its text ends; its memory is as long as it was.
    const memory = this.#bufferPool.pop()?.buffer;
    this.#chunk = memory !== undefined && this.#memories.has(memory) ? Buffer.from(memory) : this.#newChunk();
    this.#view = viewOf(this.#chunk);
    this.#at = carried.copy(this.#chunk);
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
