import { appendFileSync, closeSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../../../shared/temporary-folder.ts";
import { Entries, entryBytes } from "../rows/entries.ts";

const entriesRead = 2 ** 15;

/**
 * Entries on disk in any number of partitions, in a temporary folder. In memory are at most twice as many entries as
 * are buffered, and nothing of a partition; no file stays open.
 */
export class Partitions {
  readonly #folder = temporaryFolder("ncs-density-");
  readonly #buffer: Entries;
  readonly #inOrder: Entries;
  /** The partition of each entry in the buffer. */
  readonly #owners: Uint32Array;
  #buffered = 0;
  #count = 0;
  /** What entries are read into, unless it is in use. */
  #free: ArrayBuffer | undefined;

  /** @param buffered how many entries are written at once. */
  constructor(buffered: number) {
    this.#buffer = new Entries(new ArrayBuffer(entryBytes * buffered));
    this.#inOrder = new Entries(new ArrayBuffer(entryBytes * buffered));
    this.#owners = new Uint32Array(buffered);
  }

  get count(): number {
    return this.#count;
  }

  /** @returns the number of a new partition, counted from 0. */
  create(): number {
    return this.#count++;
  }

  /** Adds some of the entries. @param linesBefore what is added to their lines. */
  add(partition: number, entries: Entries, from: number, to: number, linesBefore: number): void {
    for (let index = from; index < to; index++) {
      this.#buffer.copy(this.#buffered, entries, index, linesBefore);
      this.#owners[this.#buffered++] = partition;
      if (this.#buffered === this.#owners.length) this.flush();
    }
  }

  /** Writes what is buffered; until then `entriesOf` lacks it. */
  flush(): void {
    const owners = this.#owners.subarray(0, this.#buffered);
    const ends = endsOf(owners, this.#count);
    // Each is put where the next one of its partition belongs, the last one first.
    const offsets = ends.slice();
    for (let index = owners.length - 1; index >= 0; index--) {
      const owner = owners[index] as number;
      const offset = (offsets[owner] as number) - 1;
      offsets[owner] = offset;
      this.#inOrder.copy(offset, this.#buffer, index);
    }
    for (let owner = 0, start = 0; owner < ends.length; owner++) {
      const end = ends[owner] as number;
      if (end > start) appendFileSync(this.#path(owner), this.#inOrder.bytes(start, end));
      start = end;
    }
    this.#buffered = 0;
  }

  /** The entries of a partition in the order in which they were added, some at a time. Do not retain them. */
  *entriesOf(partition: number): Generator<Entries> {
    const buffer = this.#free ?? new ArrayBuffer(entryBytes * entriesRead);
    this.#free = undefined;
    const file = openSync(this.#path(partition), "r");
    try {
      const count = fstatSync(file).size / entryBytes;
      for (let start = 0; start < count; start += entriesRead) {
        const entries = new Entries(buffer, Math.min(count - start, entriesRead));
        readFully(file, entries.bytes());
        yield entries;
      }
    } finally {
      closeSync(file);
      this.#free = buffer;
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

function readFully(file: number, bytes: Uint8Array): void {
  for (let length = 0; length < bytes.length; ) {
    const read = readSync(file, bytes, length, bytes.length - length, null);
    if (read === 0) throw new Error("a temporary file has become shorter");
    length += read;
  }
}
