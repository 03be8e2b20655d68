import type { CountedDay } from "../../privacy/counted.ts";
import type { RowBatch } from "../rows/row-batch.ts";
import { DaySort, type SortedRows, type SortOptions } from "./day-sort.ts";
import { Partitions } from "./partitions.ts";

/** 8 MB, as they are copied when they are written. */
const rowsBuffered = 2 ** 17;

/**
 * The days of rows in any order, one after the other. Rows hold everything about the hours they name: in these every
 * covered tile is counted, and a cell without a row has nobody; an hour that no row names is undefined everywhere.
 *
 * Rows are sorted on disk, 32 bytes each, in a temporary folder that is removed in any case. In memory are the
 * rows that are written at once, 0.5 KB for each tile, and of a day 32 tiles: about 100 MB for a country. The tiles of
 * a day are to be read before the next day is asked for, and each before the next tile: its memory is used again. Tiles
 * share hours: not to be written to.
 * @throws {ImportError} before the first day, also for rows of a cell that is not covered or of a cell and hour that
 * had a row before.
 */
export async function* sortedDays(
  rows: AsyncIterable<RowBatch>,
  options: SortOptions,
): AsyncGenerator<CountedDay> {
  const partitions = new Partitions(options.buffered ?? rowsBuffered);
  try {
    const sort = new DaySort(partitions, options);
    for await (const batch of rows) sort.add(batch);
    partitions.flush();
    options.problems.refuse();
    sort.findRepeats();
    options.problems.refuse();
    await options.checkDays?.(sort.days());
    yield* sort.days();
  } finally {
    partitions.remove();
  }
}

/**
 * Sorts the rows of a file for a caller that combines them with those of other files: they keep their order, and other
 * files may repeat them. Partitions can be read until `use` ends.
 * @throws {ImportError} for a row of a cell that is not covered, before `use`.
 */
export async function withSortedRows<Result>(
  rows: AsyncIterable<RowBatch>,
  options: Omit<SortOptions, "checkDays" | "threshold">,
  use: (sorted: SortedRows) => Promise<Result>,
): Promise<Result> {
  const partitions = new Partitions(options.buffered ?? rowsBuffered);
  try {
    const sort = new DaySort(partitions, options);
    for await (const batch of rows) sort.add(batch);
    partitions.flush();
    options.problems.refuse();
    return await use(sort.sorted());
  } finally {
    partitions.remove();
  }
}
