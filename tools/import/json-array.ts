import { isUtf8 } from "node:buffer";
import { createReadStream } from "node:fs";
import { withoutByteOrderMark } from "../../shared/import/lines.ts";

/** A file is no array of JSON values; the message says what it is. */
export class NotArray extends Error {}

const bytesAtOnce = 262_144;
const notJson = "is not JSON";

/** No item of a table has as many bytes as these chunks. */
const chunksOfElement = 4;
const [quote, backslash, comma] = Buffer.from('"\\,');
const [openingBracket, closingBracket, openingBrace, closingBrace] = Buffer.from("[]{}");
const whitespace = new Set(Buffer.from(" \t\r\n"));

/**
 * The elements of a file that is one JSON array, some at a time and in order, exactly as `JSON.parse` reads them. In
 * memory are the bytes read at once and one element. Streaming parsers were not taken: the values that they build differ
 * from those of `JSON.parse` in members like `__proto__`, which schemas then do not see.
 * @throws {NotArray} when the file is anything else; what a file cannot be read with.
 */
export async function* elementsOf(path: string): AsyncGenerator<unknown[]> {
  const splitter = new ArraySplitter();
  let read = 0;
  for await (const bytes of createReadStream(path, { highWaterMark: bytesAtOnce })) {
    const elements = splitter.split(bytes).map((element, index) => parsed(element, read + index + 1));
    read += elements.length;
    if (elements.length > 0) yield elements;
  }
  splitter.end();
}

function parsed(bytes: Buffer, position: number): unknown {
  if (!isUtf8(bytes)) throw new NotArray("is not UTF-8");
  try {
    return JSON.parse(bytes.toString());
  } catch (error) {
    if (error instanceof SyntaxError) throw new NotArray(`record ${position}: ${notJson}`);
    throw error;
  }
}

/** Cuts the bytes of an array at the commas between its elements. What is between is for `JSON.parse` to judge. */
class ArraySplitter {
  #place: "start" | "before" | "within" | "after" = "start";
  /** Brackets and braces that are open in the current element. */
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** Bytes of the current element that were read before. */
  #begun: Buffer[] = [];
  #elements = 0;

  /** The bytes of the elements that end in a chunk. */
  split(chunk: Buffer): Buffer[] {
    const bytes = this.#place === "start" ? withoutByteOrderMark(chunk) : chunk;
    const elements: Buffer[] = [];
    let start = this.#enter(bytes);
    for (let at = start; at < bytes.length && this.#place === "within"; at++) {
      if (!this.#endsElement(bytes[at] as number)) continue;
      const element = Buffer.concat([...this.#begun, bytes.subarray(start, at)]);
      this.#begun = [];
      start = at + 1;
      if (bytes[at] === closingBracket) this.#place = "after";
      const isEmptyArray = this.#place === "after" && this.#elements === 0 && isBlank(element);
      if (!isEmptyArray) elements.push(element);
      this.#elements++;
    }
    if (this.#begun.length > chunksOfElement) {
      throw new NotArray(
        `record ${this.#elements + 1}: is longer than ${chunksOfElement * bytesAtOnce} bytes`,
      );
    }
    if (this.#place === "within") this.#begun.push(bytes.subarray(start));
    else if (this.#place === "after" && !isBlank(bytes.subarray(start))) throw new NotArray(notJson);
    return elements;
  }

  end(): void {
    if (this.#place === "after") return;
    throw new NotArray(this.#place === "within" ? `record ${this.#elements + 1}: ${notJson}` : notJson);
  }

  /** @returns where the elements begin or go on. */
  #enter(bytes: Buffer): number {
    if (this.#place === "within" || this.#place === "after") return 0;
    this.#place = "before";
    const first = bytes.findIndex((byte) => !whitespace.has(byte));
    if (first < 0) return bytes.length;
    if (bytes[first] !== openingBracket) {
      throw new NotArray(
        "is not an array of records: expected [{…}, {…}], or .ndjson with a record in each line",
      );
    }
    this.#place = "within";
    return first + 1;
  }

  /** Whether a byte of the array ends the current element. */
  #endsElement(byte: number): boolean {
    if (this.#isInString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === backslash) this.#isEscaped = true;
      else if (byte === quote) this.#isInString = false;
    } else if (byte === quote) this.#isInString = true;
    else if (byte === openingBracket || byte === openingBrace) this.#depth++;
    else if (byte === closingBracket || byte === closingBrace) {
      if (this.#depth === 0 && byte === closingBracket) return true;
      this.#depth--;
    } else if (byte === comma) return this.#depth === 0;
    return false;
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => whitespace.has(byte));
}
