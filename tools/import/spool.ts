import { readFileSync } from "node:fs";
import { join } from "node:path";
import { appendTemporary, type TemporaryFolder, temporaryFolder } from "../../shared/temporary-folder.ts";

/** So many that a hundred million entries are read 400,000 at a time. */
const partitionCount = 256;

/** Characters that are kept in memory before they are written. */
const bufferedCharacters = 2 ** 22;

/**
 * JSON values on disk, in any number, in a folder that only this user can read and that is removed in any case.
 * Values of the same key are read together, in the order in which they were added.
 */
export class Spool<Value> {
  readonly #folder: TemporaryFolder = temporaryFolder("ncs-import-");
  readonly #lines: string[][] = Array.from({ length: partitionCount }, () => []);
  readonly #written = new Set<number>();
  #buffered = 0;

  add(key: string, value: Value): void {
    const line = `${JSON.stringify(value)}\n`;
    this.#lines[partitionOf(key)]?.push(line);
    this.#buffered += line.length;
    if (this.#buffered >= bufferedCharacters) this.#flush();
  }

  /** All values, those of a part of the keys at a time. */
  *partitions(): Generator<Value[]> {
    this.#flush();
    for (const partition of this.#written) {
      const lines = readFileSync(this.#path(partition), "utf8").split("\n");
      yield lines.slice(0, -1).map((line) => JSON.parse(line) as Value);
    }
  }

  remove(): void {
    this.#folder.remove();
  }

  #flush(): void {
    for (const [partition, lines] of this.#lines.entries()) {
      if (lines.length === 0) continue;
      appendTemporary(this.#path(partition), lines.join(""));
      this.#written.add(partition);
      lines.length = 0;
    }
    this.#buffered = 0;
  }

  #path(partition: number): string {
    return join(this.#folder.path, String(partition));
  }
}

/** FNV-1a. */
function partitionOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index++) {
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  }
  return ((hash >>> 16) ^ hash) & (partitionCount - 1);
}
