import {
  observedDay,
  readTileDays,
  type StoredTileDay,
  tileName,
  typicalDay,
  writeTileDay,
} from "../../../functions/population-density/store.ts";
import {
  encodeTileDay,
  hoursPerDay,
  isCovered,
  noDataCode,
  readTileDay,
  type TileHour,
} from "../../../functions/population-density/tile.ts";
import { type Anonymity, type AnonymousTile, anonymousTiles } from "./anonymous-tiles.ts";
import type { CountedDay } from "./counted.ts";
import { typicalHours, weekdayOf, weeksRemembered } from "./typical-week.ts";

/** How a day is stored; precisions finer than what was counted are not stored. */
export interface DayStorage extends Anonymity {
  /**
   * `observed`: as that date, which also counts towards the typical day of its weekday. `typical`: as the typical day
   * of its weekday, in place of what was known of the hours that were counted.
   */
  readonly kind: "observed" | "typical";
}

/** What storing a day came to. */
export interface DayStored {
  /** Items of the table that depend on the day. */
  readonly items: number;
  /** Those that were written, as they were absent or different. */
  readonly changed: number;
}

/** A tile whose day could not be read or written; the message names both, the cause is what was thrown. */
class TileNotStored extends Error {
  constructor(tile: string, date: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.name : typeof cause;
    super(`tile ${tile} of ${date} could not be stored (${reason})`, { cause });
    this.name = "TileNotStored";
  }
}

/** Tiles that are being stored at a time; the items of one are written one after the other. */
const tilesAtOnce = 8;

/** For one call to the table. */
const callMilliseconds = 30_000;

/**
 * Stores a day of counted people, so that no cell tells of fewer people than the threshold: for each tile the day
 * itself, if it was observed, and its seven typical weekdays, all covering what the day covers. Storing it again
 * changes nothing; a day that was cut short is to be stored again. A tile must not be stored by two at a time.
 * @throws {TileNotStored} for a tile that fails; then no more calls are under way.
 */
export async function storeDay(day: CountedDay, storage: DayStorage): Promise<DayStored> {
  const tiles = anonymousTiles(day, storage);
  let [items, changed] = [0, 0];
  const storeTiles = async () => {
    // The first that fails ends the tiles for all.
    for await (const tile of tiles) {
      const name = tileName(tile.precision, tile.geohash);
      try {
        const stored = await storeTile(name, tile, day.date, storage.kind);
        items += stored.items;
        changed += stored.changed;
      } catch (error) {
        throw new TileNotStored(name, day.date, error);
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: tilesAtOnce }, storeTiles));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  return { items, changed };
}

async function storeTile(
  name: string,
  tile: AnonymousTile,
  date: string,
  kind: DayStorage["kind"],
): Promise<DayStored> {
  const weekday = typicalDay(weekdayOf(date));
  const stored = await readDays(name, kind === "observed" ? [observedDay(date), weekday] : [weekday]);
  const typical = stored.get(weekday);
  const others = weekdays.filter((other) => other !== weekday);
  const wanted: StoredTileDay[] = [];
  if (typical === undefined || !isEqual(readTileDay(typical.hours).coverage, tile.coverage)) {
    for (const [day, item] of await readDays(name, others)) stored.set(day, item);
    wanted.push(...others.map((other) => coveringItem(name, other, tile, stored.get(other))));
  }
  if (kind === "typical") wanted.push(typicalItem(name, weekday, tile, typical));
  else {
    const observed = observedItem(name, date, tile, stored.get(observedDay(date)));
    const dates = latestOf([date, ...(typical?.madeFrom ?? [])]);
    const earlier = await readDays(name, dates.filter((each) => each !== date).map(observedDay));
    const days = [...earlier.values(), ...(dates.includes(date) ? [observed] : [])];
    wanted.push(observed, averagedItem(name, weekday, tile, typical, dates, days));
  }
  // The day's own weekday last: once it covers what the day covers, so do the others.
  const different = wanted.filter((item) => !isSame(item, stored.get(item.day)));
  for (const item of different) await writeTileDay(item, AbortSignal.timeout(callMilliseconds));
  return { items: others.length + (kind === "observed" ? 2 : 1), changed: different.length };
}

const weekdays = Array.from({ length: 7 }, (_, index) => typicalDay(index + 1));

async function readDays(tile: string, days: readonly string[]): Promise<Map<string, StoredTileDay>> {
  const keys = days.map((day) => ({ tile, day }));
  const found = await readTileDays(keys, AbortSignal.timeout(callMilliseconds));
  return new Map(found.map((item) => [item.day, item]));
}

function latestOf(dates: readonly string[]): string[] {
  return [...new Set(dates)].sort().reverse().slice(0, weeksRemembered);
}

const daySeconds = 86_400;

/** Longer than three months, as far back as a request may ask. */
const daysKept = 100;

/** The day of a date: hours that are not counted now stay as they are stored. */
function observedItem(
  tile: string,
  date: string,
  { hours, coverage }: AnonymousTile,
  stored: StoredTileDay | undefined,
): StoredTileDay {
  const before = stored && readTileDay(stored.hours);
  return {
    tile,
    day: observedDay(date),
    hours: encodeTileDay(
      hours.map((hour, index) => hour ?? before?.openHour(index)),
      coverage.map((bits, index) => bits | (before?.coverage[index] ?? 0)),
    ),
    madeFrom: [],
    expiresAt: Date.parse(`${date}T00:00:00Z`) / 1_000 + (1 + daysKept) * daySeconds,
  };
}

/** A weekday of which a day was observed: hours that were never observed stay as they are stored. */
function averagedItem(
  tile: string,
  day: string,
  { coverage }: AnonymousTile,
  stored: StoredTileDay | undefined,
  madeFrom: string[],
  observed: readonly StoredTileDay[],
): StoredTileDay {
  const before = stored && readTileDay(stored.hours);
  const averaged = typicalHours(observed.map(({ hours }) => readTileDay(hours)));
  const hours = averaged.map((hour, index) => within(coverage, hour ?? before?.openHour(index)));
  return { tile, day, hours: encodeTileDay(hours, coverage), madeFrom };
}

/** A weekday that was counted as a typical one: hours that are not counted now stay as they are stored. */
function typicalItem(
  tile: string,
  day: string,
  { hours, coverage }: AnonymousTile,
  stored: StoredTileDay | undefined,
): StoredTileDay {
  const before = stored && readTileDay(stored.hours);
  const known = hours.map((hour, index) => hour ?? within(coverage, before?.openHour(index)));
  return { tile, day, hours: encodeTileDay(known, coverage), madeFrom: [] };
}

/** Another weekday, which covers the same cells: a request must not be told that these depend on the weekday. */
function coveringItem(
  tile: string,
  day: string,
  { coverage }: AnonymousTile,
  stored: StoredTileDay | undefined,
): StoredTileDay {
  const before = stored && readTileDay(stored.hours);
  if (stored !== undefined && before !== undefined && isEqual(before.coverage, coverage)) return stored;
  const hours = Array.from({ length: hoursPerDay }, (_, index) => within(coverage, before?.openHour(index)));
  return { tile, day, hours: encodeTileDay(hours, coverage), madeFrom: stored?.madeFrom ?? [] };
}

/** Drops the slots of an hour that are not covered, in place. */
function within(coverage: Uint8Array, hour: TileHour | undefined): TileHour | undefined {
  if (hour === undefined) return undefined;
  for (const cell of hour.codes.keys()) {
    if (isCovered(coverage, cell)) continue;
    hour.codes[cell] = noDataCode;
    hour.below[cell] = 0;
    hour.above[cell] = 0;
  }
  return hour;
}

function isSame(item: StoredTileDay, stored: StoredTileDay | undefined): boolean {
  return (
    stored !== undefined &&
    isEqual(item.hours, stored.hours) &&
    item.madeFrom.join() === stored.madeFrom.join() &&
    item.expiresAt === stored.expiresAt
  );
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}
