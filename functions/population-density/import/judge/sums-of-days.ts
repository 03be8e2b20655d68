import type { Entries } from "../rows/entries.ts";
import type { TileSums } from "./figures.ts";
import type { DaySums } from "./part-figures.ts";
import { noRows, type RowFigures, RowSums } from "./row-sums.ts";

/** What is added up of the days of an import, partition by partition. */
export class SumsOfDays {
  readonly #sums: RowSums;
  readonly #days = new Map<number, { readonly rows: RowFigures; readonly tiles: Map<string, TileSums> }>();

  /** @param threshold K. */
  constructor(threshold: number) {
    this.#sums = new RowSums(threshold);
  }

  /** Adds rows of the partition that `endPartition` ends. */
  add(entries: Entries): void {
    this.#sums.add(entries);
  }

  /** @param day counted from 1970. */
  endPartition(prefix: string, day: number): void {
    const { rows, tiles } = this.#of(day);
    for (const [geohash, ofTile] of this.#sums.takeTiles(prefix)) tiles.set(geohash, ofTile);
    this.#sums.takeRows(rows);
  }

  /** @param hours a bit for each hour of the day that is counted. */
  ofDay(day: number, hours: number): DaySums {
    return { hours, ...this.#of(day) };
  }

  #of(day: number): { readonly rows: RowFigures; readonly tiles: Map<string, TileSums> } {
    const known = this.#days.get(day) ?? { rows: noRows(), tiles: new Map<string, TileSums>() };
    this.#days.set(day, known);
    return known;
  }
}
