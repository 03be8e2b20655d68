import { dayMilliseconds, hourMilliseconds } from "../../../../shared/calendar.ts";
import type { Problems } from "../../../../shared/import/problems.ts";
import type { CountedDay, CountedTile } from "../../privacy/counted.ts";
import { addToCoverage, coverageBytes, isCovered } from "../../tiles/tile.ts";
import { Entries } from "../rows/entries.ts";
import { type RowBatch, run, runNumbers } from "../rows/row-batch.ts";
import { cellIn, firstKeyOf, hourIn, prefixOf, rowKeysPerPartition } from "../rows/row-key.ts";
import { countedIn, emptyDay, repeated, repeatsIn } from "./partition-tiles.ts";
import type { Partitions } from "./partitions.ts";

/** The reason why a row is refused whose cell is not covered. */
export const outsideCoverage = "is outside the covered area";

/** How rows are sorted and checked. */
export interface SortOptions {
  readonly problems: Problems;
  /**
   * The covered cells of every tile that has any, at a precision, as `encodeTileDay` takes them. Without it those
   * cells are covered that any row names.
   */
  readonly coverageAt?: ((precision: number) => ReadonlyMap<string, Uint8Array>) | undefined;
  /** Whether days stand for all of their weekday, so that no two of a weekday may have an hour in common. */
  readonly isTypical?: boolean | undefined;
  /** The present, in milliseconds since 1970: hours that are not over are refused. Without it, none is. */
  readonly now?: number | undefined;
  /** Looks at every day before the first one is given; may throw. */
  readonly checkDay?: ((day: CountedDay) => Promise<void>) | undefined;
  /** Rows that are written to disk at once. */
  readonly buffered?: number | undefined;
}

/** Rows in partitions. */
export interface SortedRows {
  /** Of their cells; undefined if there are none. */
  readonly precision: number | undefined;
  /** The covered cells of each tile, by its geohash. */
  readonly coverage: ReadonlyMap<string, Uint8Array>;
  /** The first row of each hour, in the order of the rows; days and hours are counted from 1970 and from 0. */
  readonly hours: readonly { readonly day: number; readonly hour: number; readonly line: number }[];
  /** In ascending order of prefix, then day. */
  readonly partitions: () => Generator<SortedPartition>;
}

/** The rows of a day of the tiles with a prefix; lines are counted through all files. */
export interface SortedPartition {
  readonly prefix: string;
  /** Counted from 1970. */
  readonly day: number;
  /** Not to be kept. */
  readonly entries: Iterable<Entries>;
}

/** Where a row is. */
interface Place {
  readonly file: number;
  readonly line: number;
}

/** A tile that has a covered cell. */
interface SortedTile {
  readonly coverage: Uint8Array;
  /** By day: partitions of this tile and those that differ in the last character only. */
  readonly partitions: Map<number, number>;
  /** Its first row key in them. */
  readonly firstKey: number;
}

/** Some hundred bytes are kept in memory of each of them. */
const maxTiles = 1_000_000;
const maxPartitions = 1_000_000;

/** Partitions are of a day and all but the last three characters of the geohashes: at most `rowKeysPerPartition` rows. */
export class DaySort {
  readonly #partitions: Partitions;
  readonly #options: SortOptions;
  readonly #tiles = new Map<string, SortedTile>();
  readonly #partitionsByPrefix = new Map<string, Map<number, number>>();
  /** Days since 1970; a bit for each hour that any row names. */
  readonly #hoursByDay = new Map<number, number>();
  /** The first row of each. */
  readonly #hours: SortedRows["hours"][number][] = [];
  /** Entries count their lines through all files: so many are before each file. */
  readonly #files: { readonly file: number; readonly linesBefore: number }[] = [];
  #lines = 0;
  #precision: number | undefined;

  constructor(partitions: Partitions, options: SortOptions) {
    this.#partitions = partitions;
    this.#options = options;
  }

  add({ rows, from, to, file, firstLine }: RowBatch): void {
    const { runs, tiles } = rows;
    const entries = new Entries(rows.entries, rows.count);
    const linesBefore = this.#linesBefore(file) + firstLine;
    for (let at = 0; at < runs.length; at += runNumbers) {
      const first = Math.max(from, runs[at + run.first] as number);
      const end = Math.min(to, runs[at + runNumbers + run.first] ?? entries.count);
      if (first >= end) continue;
      const day = runs[at + run.day] as number;
      const place = { file, line: firstLine + entries.line(first) };
      const tile = this.#tileNamed(tiles[runs[at + run.tile] as number] as string, place);
      let hours = this.#hoursByDay.get(day) ?? 0;
      for (let index = first; index < end; index++) {
        const key = entries.key(index);
        const isInside = this.#covers(tile, cellIn(key));
        if (isInside && ((hours >> hourIn(key)) & 1) === 1) continue;
        const place = { file, line: firstLine + entries.line(index) };
        if (isInside) hours = this.#countHour(day, hourIn(key), hours, place);
        else this.#refuse(place, "geohash", outsideCoverage);
      }
      if (tile === undefined) continue;
      const partition = tile.partitions.get(day) ?? this.#partitionOf(tile, day, place);
      this.#partitions.add(partition, entries, first, end, linesBefore);
    }
    this.#lines = linesBefore + entries.line(to - 1);
  }

  #linesBefore(file: number): number {
    const current = this.#files.at(-1);
    if (current?.file === file) return current.linesBefore;
    this.#files.push({ file, linesBefore: this.#lines });
    return this.#lines;
  }

  /** @param line counted through all files. */
  #placeOf(line: number): Place {
    const of = this.#files.findLast(({ linesBefore }) => linesBefore < line);
    if (of === undefined) throw new RangeError(`line ${line} is before the first file`);
    return { file: of.file, line: line - of.linesBefore };
  }

  /** @returns the hours of the day, with this one. */
  #countHour(day: number, hour: number, hours: number, place: Place): number {
    const { isTypical, now } = this.#options;
    if (isTypical === true) this.#refuseSecond(place, day, hour);
    if (now !== undefined && day * dayMilliseconds + (hour + 1) * hourMilliseconds > now) {
      this.#refuse(place, "startTime", "is an hour that is not over, so nobody can have been counted");
    }
    this.#hours.push({ day, hour, line: place.line });
    const counted = hours | (1 << hour);
    this.#hoursByDay.set(day, counted);
    return counted;
  }

  /** Adds a problem for each row of a cell and hour that had one before. */
  findRepeats(): void {
    const seen = new Uint8Array(rowKeysPerPartition);
    for (let partition = 0; partition < this.#partitions.count; partition++) {
      for (const line of repeatsIn(this.#partitions.entriesOf(partition), seen.fill(0))) {
        this.#refuse(this.#placeOf(line), repeated.column, repeated.reason);
      }
    }
  }

  sorted(): SortedRows {
    return {
      precision: this.#precision,
      coverage: new Map([...this.#tiles].map(([geohash, { coverage }]) => [geohash, coverage])),
      hours: this.#hours,
      partitions: () => this.#sortedPartitions(),
    };
  }

  *#sortedPartitions(): Generator<SortedPartition> {
    for (const [prefix, ofDays] of [...this.#partitionsByPrefix].sort(byFirst)) {
      for (const [day, partition] of [...ofDays].sort(byFirst)) {
        yield { prefix, day, entries: this.#partitions.entriesOf(partition) };
      }
    }
  }

  *days(): Generator<CountedDay> {
    const precision = this.#precision;
    if (precision === undefined) return;
    const tiles = [...this.#tiles].sort(byFirst);
    const coverage = new Map(tiles.map(([geohash, tile]) => [geohash, tile.coverage]));
    const days = [...this.#hoursByDay].sort(byFirst);
    for (const [day, hours] of days) {
      const date = new Date(day * dayMilliseconds).toISOString().slice(0, 10);
      yield {
        date,
        precision,
        coverage,
        tiles: { [Symbol.iterator]: () => this.#tilesOf(tiles, day, hours) },
      };
    }
  }

  *#tilesOf(
    tiles: readonly (readonly [string, SortedTile])[],
    day: number,
    hours: number,
  ): Generator<CountedTile> {
    const empty = emptyDay(hours);
    let partitions: SortedTile["partitions"] | undefined;
    let counted: ReadonlyMap<number, CountedTile["hours"]> = new Map();
    for (const [geohash, tile] of tiles) {
      // Tiles of a partition follow one after the other.
      if (tile.partitions !== partitions) {
        partitions = tile.partitions;
        const partition = partitions.get(day);
        counted =
          partition === undefined ? new Map() : countedIn(this.#partitions.entriesOf(partition), empty);
      }
      yield { geohash, coverage: tile.coverage, hours: counted.get(tile.firstKey) ?? empty };
    }
  }

  #begin(precision: number): void {
    this.#precision = precision;
    for (const [geohash, coverage] of this.#options.coverageAt?.(precision) ?? [])
      this.#cover(geohash, coverage);
  }

  #cover(geohash: string, coverage: Uint8Array): SortedTile {
    const prefix = prefixOf(geohash);
    const partitions = this.#partitionsByPrefix.get(prefix) ?? new Map<number, number>();
    this.#partitionsByPrefix.set(prefix, partitions);
    const tile = { coverage, partitions, firstKey: firstKeyOf(geohash) };
    this.#tiles.set(geohash, tile);
    return tile;
  }

  /** @returns undefined if a coverage is given in which the tile is not. */
  #tileNamed(geohash: string, place: Place): SortedTile | undefined {
    if (this.#precision === undefined) this.#begin(geohash.length + 2);
    const known = this.#tiles.get(geohash);
    if (known !== undefined || this.#options.coverageAt !== undefined) return known;
    if (this.#tiles.size === maxTiles) this.#refuseSize(place);
    return this.#cover(geohash, new Uint8Array(coverageBytes));
  }

  /** Whether a cell is covered; without a given coverage it is from now on. */
  #covers(tile: SortedTile | undefined, cell: number): boolean {
    if (tile === undefined) return false;
    if (this.#options.coverageAt === undefined) addToCoverage(tile.coverage, cell);
    return isCovered(tile.coverage, cell);
  }

  #partitionOf(tile: SortedTile, day: number, place: Place): number {
    if (this.#partitions.count === maxPartitions) this.#refuseSize(place);
    const partition = this.#partitions.create();
    tile.partitions.set(day, partition);
    return partition;
  }

  #refuseSecond(place: Place, day: number, hour: number): void {
    const isSecond = [...this.#hoursByDay].some(
      ([other, hours]) => (other - day) % daysPerWeek === 0 && ((hours >> hour) & 1) === 1,
    );
    if (isSecond) this.#refuse(place, "startTime", "is an hour of a weekday that another date has too");
  }

  #refuse({ file, line }: Place, column: string, reason: string): void {
    this.#options.problems.add(file, reason, line, column);
  }

  #refuseSize({ file, line }: Place): void {
    const { problems } = this.#options;
    problems.add(file, "too many days and tiles for one import: split it", line);
    problems.refuse();
  }
}

function byFirst<Key extends string | number>([one]: [Key, unknown], [other]: [Key, unknown]): number {
  return one < other ? -1 : 1;
}

const daysPerWeek = 7;
