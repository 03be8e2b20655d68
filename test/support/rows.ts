import { Entries } from "../../functions/population-density/import/rows/entries.ts";
import { type RowBatch, run, runNumbers } from "../../functions/population-density/import/rows/row-batch.ts";
import { cellIn, hourIn } from "../../functions/population-density/import/rows/row-key.ts";
import type { Range } from "../../functions/population-density/privacy/market-share.ts";
import { hoursPerDay } from "../../functions/population-density/tiles/tile.ts";
import { RowSource } from "../../tools/import/density/row-source.ts";

/** People counted in a cell in an hour, at most 10^9; one number that is the whole range if its file has none. */
export interface Row extends Range {
  /** What its geohash has in common with the other cells of its tile: all but the last two characters. */
  readonly tile: string;
  /** The last two characters of its geohash as a number from 0 to 1023. */
  readonly cell: number;
  /** In UTC, counted from 1970. */
  readonly hour: number;
  /** The position of its file among those of the import, counted from 0. */
  readonly file: number;
  /** Counted from 1. */
  readonly line: number;
}

/** A file of rows, read as its name says. */
export function sourceOf(path: string): RowSource {
  return new RowSource(path);
}

/** A batch row by row. */
export function* rowsIn({ rows, from, to, file, firstLine }: RowBatch): Generator<Row> {
  const entries = new Entries(rows.entries, rows.count);
  for (let at = 0; at < rows.runs.length; at += runNumbers) {
    const tile = rows.tiles[rows.runs[at + run.tile] as number] as string;
    const midnight = (rows.runs[at + run.day] as number) * hoursPerDay;
    const first = Math.max(from, rows.runs[at + run.first] as number);
    const end = Math.min(to, rows.runs[at + runNumbers + run.first] ?? entries.count);
    for (let index = first; index < end; index++) {
      const key = entries.key(index);
      yield {
        tile,
        cell: cellIn(key),
        hour: midnight + hourIn(key),
        people: entries.people(index),
        min: entries.min(index),
        max: entries.max(index),
        file,
        line: firstLine + entries.line(index),
      };
    }
  }
}
