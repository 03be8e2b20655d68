import type { Problems } from "../../../shared/import/problems.ts";
import { addToCoverage, coverageBytes, hoursPerDay, isCovered } from "../tiles/tile.ts";
import type { CountedDay, CountedTile } from "./counted.ts";
import {
  countedIn,
  emptyDay,
  firstSlotOf,
  type Place,
  prefixOf,
  repeated,
  repeatsIn,
  slotsPerPartition,
} from "./partition-tiles.ts";
import type { Partitions } from "./partitions.ts";
import type { RowBatch } from "./row-batch.ts";

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

/** The rows of a day of the tiles with a prefix. */
export interface SortedPartition {
  readonly prefix: string;
  /** Counted from 1970. */
  readonly day: number;
  /** Not to be kept. */
  readonly entries: Iterable<Float64Array>;
}

/** A tile that has a covered cell. */
interface SortedTile {
  readonly coverage: Uint8Array;
  /** By day: partitions of this tile and those that differ in the last character only. */
  readonly partitions: Map<number, number>;
  /** Its first slot in them. */
  readonly firstSlot: number;
}

/** What is known of the tiles of a batch, by their positions. */
class BatchTiles {
  readonly tiles: (SortedTile | undefined)[];
  /** The day of each tile's row before, and its partition. */
  readonly days: Int32Array;
  readonly partitions: Uint32Array;

  constructor(count: number) {
    this.tiles = Array.from({ length: count });
    this.days = new Int32Array(count).fill(-1);
    this.partitions = new Uint32Array(count);
  }
}

/** Some hundred bytes are kept in memory of each of them. */
const maxTiles = 1_000_000;
const maxPartitions = 1_000_000;

/** Partitions are of a day and all but the last three characters of the geohashes: at most `slotsPerPartition` rows. */
export class DaySort {
  readonly #partitions: Partitions;
  readonly #options: SortOptions;
  readonly #tiles = new Map<string, SortedTile>();
  readonly #partitionsByPrefix = new Map<string, Map<number, number>>();
  /** Days since 1970; a bit for each hour that any row names. */
  readonly #hoursByDay = new Map<number, number>();
  /** The first row of each. */
  readonly #hours: SortedRows["hours"][number][] = [];
  #precision: number | undefined;
  /** The day of the row before, and its hours. */
  #lastDay = -1;
  #lastHours = 0;

  constructor(partitions: Partitions, options: SortOptions) {
    this.#partitions = partitions;
    this.#options = options;
  }

  add(batch: RowBatch): void {
    const { columns, from, to, file, firstLine } = batch;
    const { tile: tiles, cell: cells, hour: hours, people, min, max } = columns;
    const known = new BatchTiles(columns.tiles.length);
    for (let index = from; index < to; index++) {
      const position = tiles[index] as number;
      const place = { file, line: firstLine + (columns.line[index] as number) };
      const geohash = columns.tiles[position] as string;
      const cell = cells[index] as number;
      known.tiles[position] ??= this.#tileNamed(geohash, place);
      const tile = this.#covering(known.tiles[position], cell, place);
      if (tile === undefined) continue;
      const hour = hours[index] as number;
      const day = Math.floor(hour / hoursPerDay);
      const ofDay = hour % hoursPerDay;
      this.#countHour(day, ofDay, place);
      if (known.days[position] !== day) {
        known.days[position] = day;
        known.partitions[position] = tile.partitions.get(day) ?? this.#partitionOf(tile, day, place);
      }
      this.#partitions.add(
        known.partitions[position] as number,
        tile.firstSlot + cell * hoursPerDay + ofDay,
        file,
        place.line,
        people[index] as number,
        min[index] as number,
        max[index] as number,
      );
    }
  }

  #countHour(day: number, hour: number, place: Place): void {
    if (day !== this.#lastDay) {
      this.#lastDay = day;
      this.#lastHours = this.#hoursByDay.get(day) ?? 0;
    }
    if (((this.#lastHours >> hour) & 1) === 1) return;
    if (this.#options.isTypical === true) this.#refuseSecond(place, day, hour);
    this.#hours.push({ day, hour, line: place.line });
    this.#lastHours |= 1 << hour;
    this.#hoursByDay.set(day, this.#lastHours);
  }

  /** Adds a problem for each row of a cell and hour that had one before. */
  findRepeats(): void {
    const seen = new Uint8Array(slotsPerPartition);
    for (let partition = 0; partition < this.#partitions.count; partition++) {
      for (const place of repeatsIn(this.#partitions.entriesOf(partition), seen)) {
        this.#refuse(place, repeated.column, repeated.reason);
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
      yield { geohash, coverage: tile.coverage, hours: counted.get(tile.firstSlot) ?? empty };
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
    const tile = { coverage, partitions, firstSlot: firstSlotOf(geohash) };
    this.#tiles.set(geohash, tile);
    return tile;
  }

  /** @returns undefined if a coverage is given in which the tile is not. */
  #tileNamed(geohash: string, place: Place): SortedTile | undefined {
    if (this.#precision === undefined) this.#begin(geohash.length + 2);
    const known = this.#tiles.get(geohash);
    if (known !== undefined || this.#options.coverageAt !== undefined) return known;
    if (this.#tiles.size === maxTiles) this.#giveUp(place);
    return this.#cover(geohash, new Uint8Array(coverageBytes));
  }

  /** @returns undefined if the cell of a row is not covered. */
  #covering(tile: SortedTile | undefined, cell: number, place: Place): SortedTile | undefined {
    if (tile !== undefined) {
      if (this.#options.coverageAt === undefined) addToCoverage(tile.coverage, cell);
      if (isCovered(tile.coverage, cell)) return tile;
    }
    this.#refuse(place, "geohash", outsideCoverage);
    return undefined;
  }

  #partitionOf(tile: SortedTile, day: number, place: Place): number {
    if (this.#partitions.count === maxPartitions) this.#giveUp(place);
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

  #giveUp({ file, line }: Place): void {
    const { problems } = this.#options;
    problems.add(file, "too many days and tiles for one import: split it", line);
    problems.refuse();
  }
}

function byFirst<Key extends string | number>([one]: [Key, unknown], [other]: [Key, unknown]): number {
  return one < other ? -1 : 1;
}

const dayMilliseconds = 86_400_000;
const daysPerWeek = 7;
