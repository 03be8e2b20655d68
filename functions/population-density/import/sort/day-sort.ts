import { dayMilliseconds, dayOf, hourMilliseconds } from "../../../../shared/calendar.ts";
import type { Problems } from "../../../../shared/import/problems.ts";
import type { CountedDay, CountedTile } from "../../privacy/counted.ts";
import type { DaySums } from "../judge/part-figures.ts";
import { SumsOfDays } from "../judge/sums-of-days.ts";
import { Entries } from "../rows/entries.ts";
import { type RowBatch, run, runNumbers } from "../rows/row-batch.ts";
import { cellIn, hourIn, rowKeysPerPartition } from "../rows/row-key.ts";
import { NamedHours, secondDate } from "./named-hours.ts";
import { countedIn, emptyDay, HourMemory, repeated, repeatsIn } from "./partition-tiles.ts";
import type { Partitions } from "./partitions.ts";
import { type RowPosition, RowPositions } from "./row-positions.ts";
import { type CoverageAt, type SortedTile, SortedTiles } from "./sorted-tiles.ts";

/** The reason why a row is refused whose cell is not covered. */
export const outsideCoverage = "is outside the covered area";

/** A day of sorted rows. */
export interface SortedDay extends CountedDay {
  readonly sums: DaySums;
}

/** How rows are sorted and checked. */
export interface SortOptions {
  readonly problems: Problems;
  /** The covered cells. Without it those cells are covered that any row names. */
  readonly coverageAt?: CoverageAt | undefined;
  /** Whether days stand for all of their weekday, so that no two of a weekday may have an hour in common. */
  readonly isTypical?: boolean | undefined;
  /** The present, in milliseconds since 1970: hours that have not ended are refused. Without it, none is. */
  readonly now?: number | undefined;
  /** K, by which what will be published is added up for a judgement; without it, nothing is. */
  readonly threshold?: number | undefined;
  /** Rows that are written to disk at once. */
  readonly buffered?: number | undefined;
}

/** Some hundred bytes are kept in memory of each of them. */
const maxTiles = 1_000_000;
const maxPartitions = 1_000_000;

/**
 * Sorts rows into partitions, each of a day and a prefix of tiles, at most `rowKeysPerPartition` rows; and says which
 * rows are refused.
 *
 * ```text
 * rows in any order ── add ──▶ partitions on disk ── days ──▶ day by day, tile by tile
 *                       │
 *                       ├──▶ SortedTiles    which tiles have covered cells, and where their rows are
 *                       ├──▶ NamedHours     which hours are counted
 *                       └──▶ RowPositions   which file a line is in
 * ```
 */
export class RowSort {
  readonly #partitions: Partitions;
  readonly #options: SortOptions;
  readonly #tiles: SortedTiles;
  readonly #hours = new NamedHours();
  readonly #positions = new RowPositions();
  readonly #sums: SumsOfDays;

  constructor(partitions: Partitions, options: SortOptions) {
    this.#partitions = partitions;
    this.#options = options;
    this.#tiles = new SortedTiles(options.coverageAt);
    this.#sums = new SumsOfDays(options.threshold ?? 0);
  }

  add({ rows, from, to, file, firstLine }: RowBatch): void {
    const { runs, tiles } = rows;
    const entries = new Entries(rows.entries, rows.count);
    const linesBefore = this.#positions.linesBefore(file) + firstLine;
    for (let at = 0; at < runs.length; at += runNumbers) {
      const first = Math.max(from, runs[at + run.first] as number);
      const end = Math.min(to, runs[at + runNumbers + run.first] ?? entries.count);
      if (first >= end) continue;
      const day = runs[at + run.day] as number;
      const position = { file, line: firstLine + entries.line(first) };
      const tile = this.#tileNamed(tiles[runs[at + run.tile] as number] as string, position);
      let namedHours = this.#hours.bitsOf(day);
      for (let index = first; index < end; index++) {
        const key = entries.key(index);
        const isInside = tile !== undefined && this.#tiles.covers(tile, cellIn(key));
        if (isInside && ((namedHours >> hourIn(key)) & 1) === 1) continue;
        const position = { file, line: firstLine + entries.line(index) };
        if (isInside) namedHours = this.#addHour(day, hourIn(key), position);
        else this.#refuse(position, "geohash", outsideCoverage);
      }
      if (tile === undefined) continue;
      const partition = tile.partitions.get(day) ?? this.#partitionOf(tile, day, position);
      this.#partitions.add(partition, entries, first, end, linesBefore);
    }
    this.#positions.readTo(linesBefore + entries.line(to - 1));
  }

  /** @returns a bit for each hour of the day that is named by now. */
  #addHour(day: number, hour: number, position: RowPosition): number {
    const { isTypical, now } = this.#options;
    if (isTypical === true && this.#hours.hasOfWeekday(day, hour)) {
      this.#refuse(position, secondDate.column, secondDate.reason);
    }
    if (now !== undefined && day * dayMilliseconds + (hour + 1) * hourMilliseconds > now) {
      this.#refuse(position, "startTime", "is an hour that has not ended, so nobody can have been counted");
    }
    return this.#hours.add(day, hour);
  }

  /** Adds a problem for each row of a cell and hour that had one before, and adds up all rows if K is known. */
  #findRepeats(): void {
    const seen = new Uint8Array(rowKeysPerPartition);
    const isSummed = this.#options.threshold !== undefined;
    const created = [...this.#tiles.partitions()].sort((one, other) => one.partition - other.partition);
    for (const { prefix, day, partition } of created) {
      seen.fill(0);
      for (const entries of this.#partitions.entriesOf(partition)) {
        for (const line of repeatsIn([entries], seen)) {
          this.#refuse(this.#positions.of(line), repeated.column, repeated.reason);
        }
        if (isSummed) this.#sums.add(entries);
      }
      if (isSummed) this.#sums.endPartition(prefix, day);
    }
  }

  /**
   * The days, when these are all rows of an import; called once.
   * @throws {ImportError} for rows of a cell and hour that had a row before.
   */
  days(): readonly SortedDay[] {
    this.#findRepeats();
    this.#options.problems.refuse();
    const { precision } = this.#tiles;
    if (precision === undefined) return [];
    const tiles = this.#tiles.inOrder();
    const coverage = new Map(tiles.map(([geohash, tile]) => [geohash, tile.coverage]));
    return this.#hours.days().map(([day, bits]) => ({
      date: dayOf(new Date(day * dayMilliseconds)),
      precision,
      coverage,
      tiles: { [Symbol.iterator]: () => this.#tilesOf(tiles, day, bits) },
      sums: this.#sums.ofDay(day, bits),
    }));
  }

  /** @param bits a bit for each hour that is counted. */
  *#tilesOf(
    tiles: readonly (readonly [string, SortedTile])[],
    day: number,
    bits: number,
  ): Generator<CountedTile> {
    const empty = emptyDay(bits);
    const memory = new HourMemory();
    let partitions: SortedTile["partitions"] | undefined;
    let counted: ReadonlyMap<number, CountedTile["hours"]> = new Map();
    for (const [geohash, tile] of tiles) {
      // Tiles of a partition follow one after the other.
      if (tile.partitions !== partitions) {
        partitions = tile.partitions;
        const partition = partitions.get(day);
        counted =
          partition === undefined
            ? new Map()
            : countedIn(this.#partitions.entriesOf(partition), empty, memory);
      }
      yield { geohash, coverage: tile.coverage, hours: counted.get(tile.firstKey) ?? empty };
    }
  }

  /** @returns undefined if a coverage is given in which the tile is not. */
  #tileNamed(geohash: string, position: RowPosition): SortedTile | undefined {
    const known = this.#tiles.find(geohash);
    if (known !== undefined || !this.#tiles.isGrowing) return known;
    if (this.#tiles.size === maxTiles) this.#refuseSize(position);
    return this.#tiles.add(geohash);
  }

  #partitionOf(tile: SortedTile, day: number, position: RowPosition): number {
    if (this.#partitions.count === maxPartitions) this.#refuseSize(position);
    const partition = this.#partitions.create();
    tile.partitions.set(day, partition);
    return partition;
  }

  #refuse({ file, line }: RowPosition, column: string, reason: string): void {
    this.#options.problems.add(file, reason, line, column);
  }

  #refuseSize({ file, line }: RowPosition): void {
    const { problems } = this.#options;
    problems.add(file, "too many days and tiles for one import: split it", line);
    problems.refuse();
  }
}
