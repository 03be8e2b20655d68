import { availableParallelism } from "node:os";
import { rowsOf } from "../../../functions/population-density/import/rows/read-rows.ts";
import type { RowBatch } from "../../../functions/population-density/import/rows/row-batch.ts";
import type { RowFormat } from "../../../functions/population-density/import/rows/row-format.ts";
import type { ImportedFile } from "../../../functions/population-density/import/store/journal-store.ts";
import { ImportError } from "../../../shared/import/import-error.ts";
import { Problems } from "../../../shared/import/problems.ts";
import { startParserThreads } from "./parser-threads.ts";
import { RowSource } from "./row-source.ts";

/** Which rows are read, and how. */
export interface WantedRows {
  /**
   * Paths of files or pipes, `-` for standard input, as problems name them; together they hold everything about the
   * hours they name.
   */
  readonly files: readonly string[];
  /** What they are; if absent, their names say it. */
  readonly format?: RowFormat | undefined;
  /** How many rows they have together, to be checked; must be known of a pipe that is not packed. */
  readonly rows?: number | undefined;
  /** How many threads parse in addition to this one; if absent, as many as are worth starting for the files. */
  readonly threads?: number | undefined;
  readonly onProgress?: ((progress: DensityProgress) => void) | undefined;
}

/** The progress of an import. */
interface DensityProgress {
  readonly bytes: number;
  /** Undefined if there is a pipe among them. */
  readonly allBytes: number | undefined;
  /** The date that is being stored, once everything was read. */
  readonly date?: string;
}

/** Reads the rows of an import, from all of its sources. */
export class Reading {
  readonly problems: Problems;
  rows = 0;
  readonly #wanted: WantedRows;
  readonly #sources: readonly RowSource[];
  readonly #allBytes: number | undefined;
  #bytes = 0;

  constructor(wanted: WantedRows) {
    const { files, format, rows } = wanted;
    const onBytes = (bytes: number) => {
      this.#bytes += bytes;
      this.tell();
    };
    this.#wanted = wanted;
    this.#sources = files.map(
      (path) => new RowSource(path, { format, isCounted: rows !== undefined, onBytes }),
    );
    this.problems = new Problems(this.#sources.map(({ name }) => name));
    this.#allBytes = this.#sources.reduce<number | undefined>(
      (sum, { size }) => (sum === undefined || size === undefined ? undefined : sum + size),
      0,
    );
  }

  /** The first bytes of the first text, once they were read. */
  get beginning(): string {
    return this.#sources[0]?.beginning.toString() ?? "";
  }

  async *batches(): AsyncGenerator<RowBatch> {
    const { threads = threadsWorth(this.#allBytes), rows } = this.#wanted;
    const parser = threads > 0 ? startParserThreads(threads) : undefined;
    try {
      for await (const batch of rowsOf(this.#sources, { problems: this.problems, parser })) {
        this.rows += batch.to - batch.from;
        yield batch;
      }
    } finally {
      await parser?.close();
    }
    if (rows === undefined || rows === this.rows) return;
    throw new ImportError([`${this.rows} rows were read, and --rows says ${rows}: the input is not whole`]);
  }

  /** Tells how far the import is. @param date that is being stored. */
  tell(date?: string): void {
    const progress = { bytes: this.#bytes, allBytes: this.#allBytes };
    this.#wanted.onProgress?.(date === undefined ? progress : { ...progress, date });
  }

  /** The sources as they were read; to be called once, after the last row. */
  imported(): ImportedFile[] {
    return this.#sources.map((source) => source.imported());
  }
}

/** Parsing more takes longer than starting threads. */
const bytesWorthThreads = 32 * 2 ** 20;

/** More threads parse faster than this one sorts. */
const maxThreads = 2;

/** @param bytes undefined if nobody knows how many there are. */
function threadsWorth(bytes = Number.POSITIVE_INFINITY): number {
  const threads = Math.min(availableParallelism(), maxThreads);
  return threads > 1 && bytes > bytesWorthThreads ? threads : 0;
}
