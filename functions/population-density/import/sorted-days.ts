import type { Problems } from "../../../shared/import/problems.ts";
import { suffixesOf } from "../cover/geohash.ts";
import { addToCoverage, cellsPerTile, coverageBytes, hoursPerDay, isCovered } from "../tiles/tile.ts";
import type { CountedDay, CountedHour, CountedTile } from "./counted.ts";
import { entry, numbersEach, Partitions } from "./partitions.ts";
import type { RowBatch } from "./row-batch.ts";

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

/** Where a row is. */
interface Place {
  readonly file: number;
  readonly line: number;
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
  /** The day of the row before, and its hours. */
  #lastDay = -1;
  #lastHours = 0;

  constructor(partitions: Partitions, options: SortOptions) {
    this.#partitions = partitions;
    this.#options = options;
  }

  add(batch: RowBatch): void {
    const { columns, from, to, file, firstLine } = batch;
    const { tile: tiles, cell: cells, hour: hours, people, least, greatest } = columns;
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
        least[index] as number,
        greatest[index] as number,
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
    this.#lastHours |= 1 << hour;
    this.#hoursByDay.set(day, this.#lastHours);
  }

  /** Adds a problem for each row of a cell and hour that had one before. */
  findRepeats(): void {
    const seen = new Uint8Array(slotsPerPartition);
    for (let partition = 0; partition < this.#partitions.count; partition++) {
      seen.fill(0);
      for (const numbers of this.#partitions.entriesOf(partition)) {
        for (let at = 0; at < numbers.length; at += numbersEach) {
          const slot = numbers[at + entry.slot] as number;
          if (seen[slot] === 1) {
            const [file, line] = [numbers[at + entry.file] as number, numbers[at + entry.line] as number];
            this.#refuse({ file, line }, "startTime", "the same cell and hour as a row before");
          }
          seen[slot] = 1;
        }
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
    for (const numbers of this.#partitions.entriesOf(partition)) {
      for (let at = 0; at < numbers.length; at += numbersEach) {
        const slot = numbers[at + entry.slot] as number;
        const counted = hourOf(tiles, slot, empty);
        const cell = Math.floor(slot / hoursPerDay) % cellsPerTile;
        counted.people[cell] = numbers[at + entry.people] as number;
        counted.least[cell] = numbers[at + entry.least] as number;
        counted.greatest[cell] = numbers[at + entry.greatest] as number;
      }
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
    this.#refuse(place, "geohash", "is outside the covered area");
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

/** The hour of a slot among those of the tiles of a partition, which are by their first slots. */
function hourOf(
  tiles: Map<number, (CountedHour | undefined)[]>,
  slot: number,
  empty: CountedTile["hours"],
): CountedHour {
  const firstSlot = slot - (slot % slotsPerTile);
  let hours = tiles.get(firstSlot);
  if (hours === undefined) {
    hours = [...empty];
    tiles.set(firstSlot, hours);
  }
  const known = hours[slot % hoursPerDay];
  if (known !== undefined && known !== nobody) return known;
  const counted = emptyHour();
  hours[slot % hoursPerDay] = counted;
  return counted;
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
