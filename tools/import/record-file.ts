import type { Stats } from "node:fs";
import { basename, extname } from "node:path";
import { ImportError } from "../../shared/import/import-error.ts";
import { bytesOf, inspect, wholeLinesOf, withoutByteOrderMark } from "../../shared/import/lines.ts";
import { isFileError, unreadable } from "../../shared/import/unreadable.ts";
import { statsOf } from "./file-stats.ts";
import { elementsOf, NotArray } from "./json-array.ts";

/** A record with its position in the file, counted from 0. */
export interface Placed<Content> {
  readonly position: number;
  readonly content: Content;
}

/** A file of records of any size, which can be read several times. */
export class RecordFile {
  readonly name: string;
  readonly #path: string;
  readonly #stats: Stats | undefined;

  constructor(path: string) {
    this.#path = path;
    this.name = basename(path);
    this.#stats = statsOf(path);
    if (this.#stats?.isFIFO()) throw this.refusal("must be a file that can be read twice");
  }

  /**
   * The records of an `.ndjson` or `.jsonl`, which has one in each line, or of a JSON array; some at a time, in order.
   * Blank lines are skipped.
   * @throws {ImportError} when the file cannot be read, has another form, or has changed since it was read first.
   */
  async *records(): AsyncGenerator<readonly Placed<unknown>[]> {
    const isLines = [".ndjson", ".jsonl"].includes(extname(this.#path));
    if (extname(this.#path) === ".csv") {
      throw this.refusal(
        "is CSV: expected .json with an array of records, or .ndjson with a record in each line",
      );
    }
    let position = 0;
    try {
      for await (const contents of isLines ? this.#lines() : elementsOf(this.#path)) {
        const first = position;
        position += contents.length;
        yield contents.map((content, index) => ({ position: first + index, content }));
      }
    } catch (error) {
      if (error instanceof NotArray) throw this.refusal(error.message);
      throw isFileError(error) ? this.refusal(unreadable(error.code)) : error;
    }
    const now = statsOf(this.#path);
    if (now?.mtimeMs !== this.#stats?.mtimeMs || now?.size !== this.#stats?.size) {
      throw this.refusal("has changed while it was read");
    }
  }

  refusal(reason: string): ImportError {
    return new ImportError([`${this.name}: ${reason}`]);
  }

  async *#lines(): AsyncGenerator<unknown[]> {
    let first = 1;
    for await (const chunk of wholeLinesOf(bytesOf(this.#path))) {
      const bytes = first === 1 ? withoutByteOrderMark(chunk) : chunk;
      const { lines, reason } = inspect(bytes);
      if (reason !== undefined) throw this.refusal(`line ${first + lines}: ${reason}`);
      const contents: unknown[] = [];
      for (const [index, line] of bytes.toString().split("\n", lines).entries()) {
        if (line.trim() !== "") contents.push(this.#parsed(line, first + index));
      }
      yield contents;
      first += lines;
    }
  }

  #parsed(line: string, number: number): unknown {
    try {
      return JSON.parse(line);
    } catch (error) {
      const hint = number === 1 && line.startsWith("[") ? ": name a file with one array .json" : "";
      if (error instanceof SyntaxError) throw this.refusal(`line ${number}: is not JSON${hint}`);
      throw error;
    }
  }
}
