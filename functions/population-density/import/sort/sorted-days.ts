import type { RowBatch } from "../rows/row-batch.ts";
import { RowSort, type SortedDay, type SortOptions } from "./day-sort.ts";
import { Partitions } from "./partitions.ts";

/** 8 MB, as they are copied when they are written. */
const rowsBuffered = 2 ** 17;

/**
 * Sorts rows in any order. Rows hold everything about the hours they name: in these every covered tile is counted, and
 * a cell without a row has nobody; an hour that no row names is undefined everywhere.
 *
 * Rows are sorted on disk, 32 bytes each, in a temporary folder that is removed in any case: partitions and days can be
 * read until `use` ends. In memory are the rows that are written at once, 0.5 KB for each tile, and 32 tiles of each day
 * that is being read: about 100 MB for a country. Each tile of a day is to be read before the next one: its memory is
 * used again. Tiles share hours: not to be written to.
 * @throws {ImportError} for a row of a cell that is not covered, before `use`.
 */
export async function withSortedDays<Result>(
  rows: AsyncIterable<RowBatch>,
  options: SortOptions,
  use: (days: readonly SortedDay[]) => Promise<Result>,
): Promise<Result> {
  const partitions = new Partitions(options.buffered ?? rowsBuffered);
  try {
    const sort = new RowSort(partitions, options);
    for await (const batch of rows) sort.add(batch);
    partitions.flush();
    options.problems.refuse();
    return await use(sort.days());
  } finally {
    partitions.remove();
  }
}
