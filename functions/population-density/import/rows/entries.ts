import { rowKeyBits } from "./row-key.ts";

/** Bytes of an entry. */
export const entryBytes = 32;

const numbersEach = entryBytes / Float64Array.BYTES_PER_ELEMENT;
const wordsEach = entryBytes / Uint32Array.BYTES_PER_ELEMENT;

// The first four bytes hold the row key below the high bits of the line; the next four the low bits of the line.
const rowKeyMask = 2 ** rowKeyBits - 1;
const lowLines = 2 ** 32;
const [peopleAt, minAt, maxAt] = [1, 2, 3];

/** What is kept of rows, in memory and on disk: the row key, the line, and people with their range. */
export class Entries {
  readonly count: number;
  readonly #numbers: Float64Array;
  readonly #words: Uint32Array;

  /** @param buffer their memory. @param count how many of them are used; all that it has room for if absent. */
  constructor(buffer: ArrayBufferLike, count = buffer.byteLength / entryBytes) {
    this.count = count;
    this.#numbers = new Float64Array(buffer, 0, count * numbersEach);
    this.#words = new Uint32Array(buffer, 0, count * wordsEach);
  }

  key(index: number): number {
    return (this.#words[wordsEach * index] as number) & rowKeyMask;
  }

  line(index: number): number {
    const high = (this.#words[wordsEach * index] as number) >>> rowKeyBits;
    return high * lowLines + (this.#words[wordsEach * index + 1] as number);
  }

  people(index: number): number {
    return this.#numbers[numbersEach * index + peopleAt] as number;
  }

  min(index: number): number {
    return this.#numbers[numbersEach * index + minAt] as number;
  }

  max(index: number): number {
    return this.#numbers[numbersEach * index + maxAt] as number;
  }

  set(index: number, key: number, line: number, people: number, min: number, max: number): void {
    this.#setKeyAndLine(index, key, line);
    const at = numbersEach * index;
    this.#numbers[at + peopleAt] = people;
    this.#numbers[at + minAt] = min;
    this.#numbers[at + maxAt] = max;
  }

  /** Sets entries, from one on, to some of others. @param linesBefore what is added to their lines. */
  copy(index: number, others: Entries, from: number, to: number, linesBefore = 0): void {
    // As words: as numbers, keys and lines could become other bytes.
    this.#words.set(others.#words.subarray(wordsEach * from, wordsEach * to), wordsEach * index);
    if (linesBefore === 0) return;
    for (let at = index; at < index + to - from; at++) {
      const low = linesBefore + (this.#words[wordsEach * at + 1] as number);
      if (low < lowLines) this.#words[wordsEach * at + 1] = low;
      else this.#setKeyAndLine(at, this.key(at), linesBefore + this.line(at));
    }
  }

  /** The bytes of some, in the same memory. */
  bytes(start = 0, end = this.count): Uint8Array<ArrayBuffer> {
    return new Uint8Array(
      this.#numbers.buffer as ArrayBuffer,
      start * entryBytes,
      (end - start) * entryBytes,
    );
  }

  #setKeyAndLine(index: number, key: number, line: number): void {
    this.#words[wordsEach * index] = (Math.floor(line / lowLines) << rowKeyBits) | key;
    // Takes the low 32 bits.
    this.#words[wordsEach * index + 1] = line;
  }
}
