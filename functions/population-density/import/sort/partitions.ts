import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { appendTemporary, temporaryFolder } from "../../../../shared/temporary-folder.ts";
import { Entries, entryBytes } from "../rows/entries.ts";

const entriesRead = 2 ** 15;

/**
 * Entries on disk in any number of partitions, in a temporary folder. In memory are at most twice as many entries as
 * are buffered, and nothing of a partition; no file stays open.
 */
export class Partitions {
  readonly #folder = temporaryFolder("ncs-density-");
  readonly #buffer: Entries;
  readonly #together: Entries;
  /** What the buffer holds by partition: the beginning and the end of each run of its entries. */
  readonly #spans = new Map<number, number[]>();
  #buffered = 0;
  #count = 0;
  /** What entries are read into, unless it is in use. */
  #free: ArrayBuffer | undefined;

  /** @param buffered how many entries are written at once. */
  constructor(buffered: number) {
    this.#buffer = new Entries(new ArrayBuffer(entryBytes * buffered));
    this.#together = new Entries(new ArrayBuffer(entryBytes * buffered));
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
    for (let start = from; start < to; ) {
      const end = Math.min(to, start + this.#buffer.count - this.#buffered);
      this.#buffer.copy(this.#buffered, entries, start, end, linesBefore);
      this.#extend(partition, end - start);
      if (this.#buffered === this.#buffer.count) this.flush();
      start = end;
    }
  }

  #extend(partition: number, count: number): void {
    const start = this.#buffered;
    this.#buffered += count;
    const spans = this.#spans.get(partition);
    if (spans === undefined) this.#spans.set(partition, [start, this.#buffered]);
    else if (spans.at(-1) === start) spans[spans.length - 1] = this.#buffered;
    else spans.push(start, this.#buffered);
  }

  /** Writes what is buffered; until then `entriesOf` lacks it. */
  flush(): void {
    for (const [partition, spans] of this.#spans) {
      let count = 0;
      for (let at = 0; at < spans.length; at += 2) {
        const [start, end] = [spans[at] as number, spans[at + 1] as number];
        this.#together.copy(count, this.#buffer, start, end);
        count += end - start;
      }
      appendTemporary(this.#path(partition), this.#together.bytes(0, count));
    }
    this.#spans.clear();
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

function readFully(file: number, bytes: Uint8Array): void {
  for (let length = 0; length < bytes.length; ) {
    const read = readSync(file, bytes, length, bytes.length - length, null);
    if (read === 0) throw new Error("a temporary file has become shorter");
    length += read;
  }
}
