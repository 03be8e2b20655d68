import { inspect, wholeLinesOf, withoutByteOrderMark } from "../../../../shared/import/lines.ts";
import type { Problems } from "../../../../shared/import/problems.ts";
import { unreadableFor } from "../../../../shared/import/unreadable.ts";
import { type Header, headerIn } from "./csv-lines.ts";
import { Entries } from "./entries.ts";
import { LineParser, type LinesToParse, type ParsedLines } from "./parse-lines.ts";
import type { RowBatch } from "./row-batch.ts";
import type { RowFormat } from "./row-format.ts";

/** Parses lines, here or in other threads. */
export interface Parser {
  /** How many calls of `parse` it can use at a time. */
  readonly atOnce: number;
  readonly parse: (lines: LinesToParse) => ParsedLines | Promise<ParsedLines>;
}

/** How rows are read. */
export interface RowsOptions {
  readonly problems: Problems;
  /** In this thread if absent. */
  readonly parser?: Parser | undefined;
}

/** A text with rows. */
export interface RowText {
  /** Undefined if nothing says it. */
  readonly format: RowFormat | undefined;
  /** Reads it, once; the memory of its pieces may be used again. */
  readonly text: () => AsyncIterable<Uint8Array>;
}

/**
 * The rows of texts of any size, one text after the other, in the order of their lines. CSV begins with the names of its
 * columns, in any order: `geohash,startTime,people` and perhaps `minPeople,maxPeople`; NDJSON has an object with these
 * members in each line. Blank lines are skipped. A row that is refused is a problem and left out. Do not retain batches:
 * their memory is reused.
 * @throws {ImportError} after the last row, or when the maximum of problems is reached. Rows are not known to be valid
 * before the last one was read.
 */
export async function* rowsOf(texts: readonly RowText[], options: RowsOptions): AsyncGenerator<RowBatch> {
  const { problems } = options;
  const reader = new RowReader(options);
  for (const [file, text] of texts.entries()) {
    if (text.format === undefined) {
      problems.add(
        file,
        "must end in .csv, .ndjson or .jsonl, or in one of these and .gz; or --format says what it is",
      );
      continue;
    }
    const problemsBefore = problems.count;
    let isEmpty = true;
    for await (const batch of reader.batchesOf(text, file)) {
      isEmpty = false;
      yield batch;
    }
    if (isEmpty && problems.count === problemsBefore) problems.add(file, "has no rows");
  }
  problems.refuse();
}

/** Chunks that are being parsed, in the order of their lines. */
type UnderWay = { readonly chunk: Buffer; readonly parsed: ParsedLines | Promise<ParsedLines> }[];

class RowReader {
  readonly #options: RowsOptions;
  readonly #parser: Parser;
  /** The length of all geohashes, once one was read. */
  #precision: number | undefined;
  /** Memory to use again: of chunks of files, and of rows. */
  readonly #chunks: Buffer[] = [];
  readonly #memories: SharedArrayBuffer[] = [];

  constructor(options: RowsOptions) {
    this.#options = options;
    const parser = new LineParser();
    this.#parser = options.parser ?? { atOnce: 1, parse: (lines) => parser.parse(lines) };
  }

  async *batchesOf(text: RowText, file: number): AsyncGenerator<RowBatch> {
    const { problems } = this.#options;
    let firstLine = text.format === "csv" ? 2 : 1;
    for await (const parsed of this.#parsedOf(text, file)) {
      yield* batchesIn(parsed, file, firstLine, problems);
      firstLine += parsed.lines;
      if (parsed.unreadable !== undefined) return problems.add(file, parsed.unreadable, firstLine);
    }
  }

  /** What the lines of a file say, in their order, although several chunks of them are parsed at a time. */
  async *#parsedOf(rows: RowText, file: number): AsyncGenerator<ParsedLines> {
    const underWay: UnderWay = [];
    let header: Header | undefined;
    let isFirst = true;
    try {
      for await (const chunk of wholeLinesOf(rows.text(), this.#chunks)) {
        let bytes = chunk;
        if (isFirst) {
          bytes = withoutByteOrderMark(bytes);
          const rest = rows.format === "csv" ? this.#headerOf(bytes, file) : { header: undefined, bytes };
          if (rest === undefined) return;
          ({ header, bytes } = rest);
          isFirst = false;
        }
        const [precision, memory] = [this.#precision, this.#memories.pop()];
        const parsed = this.#parser.parse({ bytes, header, precision, memory });
        // Awaited when it is the first; that it fails earlier must not end the process.
        if (parsed instanceof Promise) parsed.catch(() => undefined);
        underWay.push({ chunk, parsed });
        // The first row determines what the others must be like.
        while (underWay.length >= (this.#precision === undefined ? 1 : this.#parser.atOnce))
          yield* this.#takeOldest(underWay);
      }
    } catch (error) {
      const reason = unreadableFor(error);
      if (reason === undefined) throw error;
      while (underWay.length > 0) yield* this.#takeOldest(underWay);
      this.#options.problems.add(file, reason);
    } finally {
      await Promise.allSettled(underWay.map(({ parsed }) => parsed));
    }
    while (underWay.length > 0) yield* this.#takeOldest(underWay);
  }

  /** Takes the oldest chunk and reuses its memory. */
  async *#takeOldest(underWay: UnderWay): AsyncGenerator<ParsedLines> {
    const [first] = underWay.splice(0, 1);
    if (first === undefined) return;
    const parsed = await first.parsed;
    this.#precision ??= parsed.precision;
    this.#chunks.push(first.chunk);
    yield parsed;
    this.#memories.push(parsed.rows.entries);
  }

  /** @returns undefined, after adding a problem, if the first line is none. */
  #headerOf(bytes: Buffer, file: number): { header: Header; bytes: Buffer } | undefined {
    const { problems } = this.#options;
    const { lines, reason } = inspect(bytes);
    if (reason !== undefined) return void problems.add(file, reason, 1 + lines);
    const end = bytes.indexOf("\n");
    const header = headerIn(bytes.toString("utf8", 0, end < 0 ? bytes.length : end));
    if (typeof header === "string") return void problems.add(file, header, 1);
    return { header, bytes: bytes.subarray(end < 0 ? bytes.length : end + 1) };
  }
}

/** The rows of parsed lines; a problem is added after the rows that come before the first line that has it. */
function* batchesIn(
  { rows, problems: found }: ParsedLines,
  file: number,
  firstLine: number,
  problems: Problems,
): Generator<RowBatch> {
  const entries = new Entries(rows.entries, rows.count);
  let from = 0;
  for (const { line, reason, column, count } of found) {
    let to = from;
    while (to < entries.count && entries.line(to) < line) to++;
    if (to > from) yield { rows, from, to, file, firstLine };
    from = to;
    problems.add(file, reason, firstLine + line, column, count);
  }
  if (entries.count > from) yield { rows, from, to: entries.count, file, firstLine };
}
