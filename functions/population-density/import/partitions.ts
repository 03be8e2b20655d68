import { appendFileSync, closeSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../../shared/temporary-folder.ts";
import type { Range } from "./market-share.ts";

/** What is kept of a row. */
export interface Entry extends Range {
  /** Which cell and hour of its partition: a whole number. */
  readonly slot: number;
  readonly file: number;
  readonly line: number;
}

/** The numbers of an entry: slot, file, line, people, least, greatest. */
const numbersEach = 6;
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

  add(partition: number, { slot, file, line, people, least, greatest }: Entry): void {
    const at = numbersEach * this.#buffered;
    this.#buffer[at] = slot;
    this.#buffer[at + 1] = file;
    this.#buffer[at + 2] = line;
    this.#buffer[at + 3] = people;
    this.#buffer[at + 4] = least;
    this.#buffer[at + 5] = greatest;
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
      this.#inOrder.set(
        this.#buffer.subarray(numbersEach * index, numbersEach * (index + 1)),
        numbersEach * place,
      );
    }
    for (let owner = 0, start = 0; owner < ends.length; owner++) {
      const end = ends[owner] as number;
      if (end > start) appendFileSync(this.#path(owner), bytesOf(this.#inOrder, start, end));
      start = end;
    }
    this.#buffered = 0;
  }

  /** The entries of a partition in the order in which they were added. */
  *entriesOf(partition: number): Generator<Entry> {
    const file = openSync(this.#path(partition), "r");
    try {
      const entries = fstatSync(file).size / bytesEach;
      const numbers = new Float64Array(numbersEach * Math.min(entries, entriesRead));
      for (let start = 0; start < entries; start += entriesRead) {
        const count = Math.min(entries - start, entriesRead);
        readFully(file, bytesOf(numbers, 0, count));
        for (let at = 0; at < count * numbersEach; at += numbersEach) yield entryAt(numbers, at);
      }
    } finally {
      closeSync(file);
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

function entryAt(numbers: Float64Array, at: number): Entry {
  return {
    slot: numbers[at] as number,
    file: numbers[at + 1] as number,
    line: numbers[at + 2] as number,
    people: numbers[at + 3] as number,
    least: numbers[at + 4] as number,
    greatest: numbers[at + 5] as number,
  };
}
