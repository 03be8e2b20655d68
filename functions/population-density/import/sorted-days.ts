import type { Problems } from "../../../shared/import/problems.ts";
import { suffixesOf } from "../cover/geohash.ts";
import { addToCoverage, cellsPerTile, coverageBytes, hoursPerDay, isCovered } from "../tiles/tile.ts";
import type { CountedDay, CountedHour, CountedTile } from "./counted.ts";
import { Partitions } from "./partitions.ts";
import type { Row } from "./rows.ts";

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

/** 54 MB, as they are copied when they are written. */
const rowsBuffered = 2 ** 19;

/**
 * The days of rows in any order, one after the other. Rows hold everything about the hours they name: in these every
 * covered tile is counted, and a cell without a row has nobody; an hour that no row names is undefined everywhere.
 *
 * Rows are sorted on disk, 48 bytes each, in a temporary folder that is removed whatever happens. In memory are the
 * rows that are written at once, 0.5 KB for each tile, and of a day 32 tiles: about 100 MB for a country. The tiles of
 * a day are to be read before the next day is asked for. Tiles share hours: not to be written to.
 * @throws {ImportError} before the first day, also for rows of a cell that is not covered or of a cell and hour that
 * had a row before.
 */
export async function* sortedDays(
  rows: AsyncIterable<Row>,
  options: SortOptions,
): AsyncGenerator<CountedDay> {
  const partitions = new Partitions(options.buffered ?? rowsBuffered);
  try {
    const sort = new DaySort(partitions, options);
    for await (const row of rows) sort.add(row);
    partitions.flush();
    options.problems.refuse();
    sort.findRepeats();
    options.problems.refuse();
    if (options.checkDay !== undefined) for (const day of sort.days()) await options.checkDay(day);
    yield* sort.days();
  } finally {
    partitions.remove();
  }
}

/** A tile that has a covered cell. */
interface SortedTile {
  readonly coverage: Uint8Array;
  /** By day: partitions of this tile and those that differ in the last character only. */
  readonly partitions: Map<number, number>;
  /** Its first slot in them. */
  readonly firstSlot: number;
}

const tilesPerPartition = 32;
const slotsPerTile = cellsPerTile * hoursPerDay;
const slotsPerPartition = tilesPerPartition * slotsPerTile;

/** Some hundred bytes are kept in memory of each of them. */
const maxTiles = 1_000_000;
const maxPartitions = 1_000_000;

/** Partitions are of a day and all but the last three characters of the geohashes: at most `slotsPerPartition` rows. */
class DaySort {
  readonly #partitions: Partitions;
  readonly #options: SortOptions;
  readonly #tiles = new Map<string, SortedTile>();
  readonly #partitionsByPrefix = new Map<string, Map<number, number>>();
  /** Days since 1970; a bit for each hour that any row names. */
  readonly #hoursByDay = new Map<number, number>();
  #precision: number | undefined;

  constructor(partitions: Partitions, options: SortOptions) {
    this.#partitions = partitions;
    this.#options = options;
  }

  add(row: Row): void {
    if (this.#precision === undefined) this.#begin(row.geohash.length);
    const tile = this.#tileOf(row);
    if (tile === undefined) return;
    const { people, least, greatest } = row;
    const day = Math.floor(row.hour / hoursPerDay);
    const hour = row.hour % hoursPerDay;
    const hours = this.#hoursByDay.get(day) ?? 0;
    if (((hours >> hour) & 1) === 0) {
      if (this.#options.isTypical === true) this.#refuseSecond(row, day, hour);
      this.#hoursByDay.set(day, hours | (1 << hour));
    }
    const partition = tile.partitions.get(day) ?? this.#partitionOf(tile, day, row);
    const slot = tile.firstSlot + row.cell * hoursPerDay + hour;
    this.#partitions.add(partition, { slot, file: row.file, line: row.line, people, least, greatest });
  }

  /** Adds a problem for each row of a cell and hour that had one before. */
  findRepeats(): void {
    const seen = new Uint8Array(slotsPerPartition);
    for (let partition = 0; partition < this.#partitions.count; partition++) {
      seen.fill(0);
      for (const { slot, file, line } of this.#partitions.entriesOf(partition)) {
        if (seen[slot] === 1)
          this.#refuse({ file, line }, "startTime", "the same cell and hour as a row before");
        seen[slot] = 1;
      }
    }
  }

  *days(): Generator<CountedDay> {
    const precision = this.#precision;
    if (precision === undefined) return;
    const tiles = [...this.#tiles].sort(([one], [other]) => (one < other ? -1 : 1));
    const coverage = new Map(tiles.map(([geohash, tile]) => [geohash, tile.coverage]));
    const days = [...this.#hoursByDay].sort(([one], [other]) => one - other);
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
        counted = this.#countedIn(partitions.get(day), empty);
      }
      yield { geohash, coverage: tile.coverage, hours: counted.get(tile.firstSlot) ?? empty };
    }
  }

  /** The hours of the tiles of a partition, by their first slot. */
  #countedIn(partition: number | undefined, empty: CountedTile["hours"]): Map<number, CountedTile["hours"]> {
    const tiles = new Map<number, (CountedHour | undefined)[]>();
    if (partition === undefined) return tiles;
    for (const { slot, people, least, greatest } of this.#partitions.entriesOf(partition)) {
      const hour = slot % hoursPerDay;
      const cell = Math.floor(slot / hoursPerDay) % cellsPerTile;
      const firstSlot = slot - (slot % slotsPerTile);
      const hours = tiles.get(firstSlot) ?? [...empty];
      tiles.set(firstSlot, hours);
      let counted = hours[hour];
      if (counted === undefined || counted === nobody) hours[hour] = counted = emptyHour();
      counted.people[cell] = people;
      counted.least[cell] = least;
      counted.greatest[cell] = greatest;
    }
    return tiles;
  }

  #begin(precision: number): void {
    this.#precision = precision;
    for (const [geohash, coverage] of this.#options.coverageAt?.(precision) ?? [])
      this.#cover(geohash, coverage);
  }

  #cover(geohash: string, coverage: Uint8Array): SortedTile {
    const prefix = geohash.slice(0, -1);
    const partitions = this.#partitionsByPrefix.get(prefix) ?? new Map<number, number>();
    this.#partitionsByPrefix.set(prefix, partitions);
    const last = Math.max(0, suffixesOf(1).indexOf(geohash.slice(-1)));
    const tile = { coverage, partitions, firstSlot: last * slotsPerTile };
    this.#tiles.set(geohash, tile);
    return tile;
  }

  /** @returns undefined if the row's cell is not covered. */
  #tileOf(row: Row): SortedTile | undefined {
    const known = this.#tiles.get(row.tile);
    if (this.#options.coverageAt !== undefined) {
      if (known !== undefined && isCovered(known.coverage, row.cell)) return known;
      this.#refuse(row, "geohash", "is outside the covered area");
      return undefined;
    }
    if (known === undefined && this.#tiles.size === maxTiles) this.#giveUp(row);
    const tile = known ?? this.#cover(row.tile, new Uint8Array(coverageBytes));
    addToCoverage(tile.coverage, row.cell);
    return tile;
  }

  #partitionOf(tile: SortedTile, day: number, row: Row): number {
    if (this.#partitions.count === maxPartitions) this.#giveUp(row);
    const partition = this.#partitions.create();
    tile.partitions.set(day, partition);
    return partition;
  }

  #refuseSecond(row: Row, day: number, hour: number): void {
    const isSecond = [...this.#hoursByDay].some(
      ([other, hours]) => (other - day) % daysPerWeek === 0 && ((hours >> hour) & 1) === 1,
    );
    if (isSecond) this.#refuse(row, "startTime", "is an hour of a weekday that another date has too");
  }

  #refuse({ file, line }: Pick<Row, "file" | "line">, column: string, reason: string): void {
    this.#options.problems.add(file, reason, line, column);
  }

  #giveUp({ file, line }: Row): void {
    const { problems } = this.#options;
    problems.add(file, "too many days and tiles for one import: split it", line);
    problems.refuse();
  }
}

const dayMilliseconds = 86_400_000;
const daysPerWeek = 7;

function emptyHour(): CountedHour {
  return {
    people: new Float64Array(cellsPerTile),
    least: new Float64Array(cellsPerTile),
    greatest: new Float64Array(cellsPerTile),
  };
}

/** Shared by all tiles and hours without a row. */
const nobody = emptyHour();

/** @param hours a bit for each hour that is counted. */
function emptyDay(hours: number): CountedTile["hours"] {
  return Array.from({ length: hoursPerDay }, (_, hour) => (((hours >> hour) & 1) === 1 ? nobody : undefined));
}
