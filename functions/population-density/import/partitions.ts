import { appendFileSync, closeSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../../shared/temporary-folder.ts";

/** The numbers of an entry: what is kept of a row, one after the other. */
export const numbersEach = 6;

/** Where an entry has which number. The slot is the cell and hour within the partition, a whole number. */
export const entry = { slot: 0, file: 1, line: 2, people: 3, min: 4, max: 5 } as const;

const bytesEach = numbersEach * Float64Array.BYTES_PER_ELEMENT;

const entriesRead = 2 ** 15;

/**
 * Entries on disk in any number of partitions, in a temporary folder. In memory are at most twice as many entries as
 * are buffered, and nothing of a partition; no file stays open.
 */
export class Partitions {
  readonly #folder = temporaryFolder("ncs-density-");
  readonly #buffer: Float64Array;
  readonly #inOrder: Float64Array;
  /** The partition of each entry in the buffer. */
  readonly #owners: Uint32Array;
  #buffered = 0;
  #count = 0;
  /** What entries are read into, unless it is in use. */
  #free: Float64Array | undefined;

  /** @param buffered how many entries are written at once. */
  constructor(buffered: number) {
    this.#buffer = new Float64Array(numbersEach * buffered);
    this.#inOrder = new Float64Array(numbersEach * buffered);
    this.#owners = new Uint32Array(buffered);
  }

  get count(): number {
    return this.#count;
  }

  /** @returns the number of a new partition, counted from 0. */
  create(): number {
    return this.#count++;
  }

  add(
    partition: number,
    slot: number,
    file: number,
    line: number,
    people: number,
    min: number,
    max: number,
  ): void {
    const at = numbersEach * this.#buffered;
    this.#buffer[at + entry.slot] = slot;
    this.#buffer[at + entry.file] = file;
    this.#buffer[at + entry.line] = line;
    this.#buffer[at + entry.people] = people;
    this.#buffer[at + entry.min] = min;
    this.#buffer[at + entry.max] = max;
    this.#owners[this.#buffered++] = partition;
    if (this.#buffered === this.#owners.length) this.flush();
  }

  /** Writes what is buffered; until then `entriesOf` lacks it. */
  flush(): void {
    const owners = this.#owners.subarray(0, this.#buffered);
    const ends = endsOf(owners, this.#count);
    // Each is put where the next one of its partition belongs, the last one first.
    const places = ends.slice();
    for (let index = owners.length - 1; index >= 0; index--) {
      const owner = owners[index] as number;
      const place = (places[owner] as number) - 1;
      places[owner] = place;
      const [from, to] = [numbersEach * index, numbersEach * place];
      for (let at = 0; at < numbersEach; at++) this.#inOrder[to + at] = this.#buffer[from + at] as number;
    }
    for (let owner = 0, start = 0; owner < ends.length; owner++) {
      const end = ends[owner] as number;
      if (end > start) appendFileSync(this.#path(owner), bytesOf(this.#inOrder, start, end));
      start = end;
    }
    this.#buffered = 0;
  }

  /** The entries of a partition in the order in which they were added, some at a time; not to be kept. */
  *entriesOf(partition: number): Generator<Float64Array> {
    const numbers = this.#free ?? new Float64Array(numbersEach * entriesRead);
    this.#free = undefined;
    const file = openSync(this.#path(partition), "r");
    try {
      const entries = fstatSync(file).size / bytesEach;
      for (let start = 0; start < entries; start += entriesRead) {
        const count = Math.min(entries - start, entriesRead);
        readFully(file, bytesOf(numbers, 0, count));
        yield numbers.subarray(0, count * numbersEach);
      }
    } finally {
      closeSync(file);
      this.#free = numbers;
    }
  }

  /** Removes all partitions with their folder. */
  remove(): void {
    this.#folder.remove();
  }

  #path(partition: number): string {
    return join(this.#folder.path, String(partition));
  }
}

/** Where the entries of each partition end when they are in the order of their partitions. */
function endsOf(owners: Uint32Array, partitions: number): Uint32Array {
  const ends = new Uint32Array(partitions);
  for (const owner of owners) ends[owner] = (ends[owner] as number) + 1;
  for (let owner = 1; owner < partitions; owner++) {
    ends[owner] = (ends[owner] as number) + (ends[owner - 1] as number);
  }
  return ends;
}

function bytesOf(numbers: Float64Array, start: number, end: number): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset + bytesEach * start, bytesEach * (end - start));
}

function readFully(file: number, bytes: Uint8Array): void {
  for (let length = 0; length < bytes.length; ) {
    const read = readSync(file, bytes, length, bytes.length - length, null);
    if (read === 0) throw new Error("a temporary file has become shorter");
    length += read;
  }
}
