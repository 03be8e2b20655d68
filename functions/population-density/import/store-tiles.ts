import { ImportError } from "../../../shared/import/import-error.ts";
import { observedDay, replaceTileDay, tileName, typicalDay } from "../tiles/store.ts";
import type { NewTileDay, StoredTileDay } from "../tiles/table.ts";
import type { AnonymousTile } from "./anonymous-tiles.ts";
import { keepDay } from "./part-store.ts";
import { union } from "./parts.ts";
import {
  averagedItem,
  callMilliseconds,
  coveringItem,
  covers,
  type DayContext,
  isSame,
  mergedItem,
  readDays,
} from "./tile-items.ts";
import { weekdayOf, weeksRemembered } from "./typical-week.ts";

/** The result of storing a day. */
export interface DayStored {
  /** Items of the table that depend on the day. */
  readonly items: number;
  /** Items that were written, because they were absent or different. */
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

/** The right to store a day, which one import has at a time. */
export interface DayLease {
  /** The import that has it. */
  readonly writer: string;
  /** It ends so long after it was last renewed. */
  readonly milliseconds: number;
}

/**
 * Stores tiles of a day, some at a time, and renews the lease meanwhile.
 * @throws {ImportError} when another import has started to store the day.
 * @throws {TileNotStored} for a tile that fails; then no more calls are under way.
 */
export async function storeTiles(
  tiles: AsyncGenerator<AnonymousTile>,
  context: DayContext,
  { writer, milliseconds }: DayLease,
): Promise<DayStored> {
  let [items, changed] = [0, 0];
  let keptAt = Number.NEGATIVE_INFINITY;
  const storeInTurn = async () => {
    // The first that fails ends the tiles for all.
    for await (const tile of tiles) {
      if (Date.now() - keptAt > milliseconds / 4) {
        keptAt = Date.now();
        if (!(await keepDay(context.key, writer, keptAt + milliseconds))) {
          throw new ImportError([`${context.date}: another import has started to store it: repeat this one`]);
        }
      }
      const name = tileName(tile.precision, tile.geohash);
      try {
        const stored = await storeTileAnew(name, tile, context);
        items += stored.items;
        changed += stored.changed;
      } catch (error) {
        throw new TileNotStored(name, context.date, error);
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: tilesAtOnce }, storeInTurn));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  return { items, changed };
}

/** How often a tile is read and stored anew when others change its weekdays meanwhile. */
const maxTries = 10;

async function storeTileAnew(name: string, tile: AnonymousTile, context: DayContext): Promise<DayStored> {
  for (let tries = 1; ; tries++) {
    try {
      return await storeTile(name, tile, context);
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile) || tries === maxTries) throw error;
    }
  }
}

async function storeTile(name: string, tile: AnonymousTile, context: DayContext): Promise<DayStored> {
  const { date, kind, key } = context;
  const weekday = typicalDay(weekdayOf(date));
  const stored = await readDays(name, kind === "observed" ? [key, weekday] : [weekday]);
  const coverage = tile.parts.map((part) => part.coverage).reduce(union);
  const typical = stored.get(weekday);
  const others = weekdays.filter((other) => other !== weekday);
  const wanted: NewTileDay[] = [];
  if (typical === undefined || !covers(typical, coverage)) {
    for (const [day, item] of await readDays(name, others)) stored.set(day, item);
    wanted.push(...others.map((other) => coveringItem(name, other, coverage, stored.get(other))));
  }
  const merged = await mergedItem(name, tile, coverage, stored.get(key), context);
  if (kind === "typical") wanted.push(merged);
  else {
    const dates = latestOf([date, ...(typical?.madeFrom ?? [])]);
    const earlier = await readDays(name, dates.filter((each) => each !== date).map(observedDay));
    const days = [...earlier.values(), ...(dates.includes(date) ? [merged] : [])];
    wanted.push(merged, await averagedItem(name, weekday, coverage, typical, dates, days));
  }
  // The day's own weekday last: once it covers what the day covers, so do the others.
  const different = wanted.filter((item) => !isSame(item, stored.get(item.day)));
  for (const item of different) await replace(item, stored.get(item.day));
  return { items: others.length + (kind === "observed" ? 2 : 1), changed: different.length };
}

const weekdays = Array.from({ length: 7 }, (_, index) => typicalDay(index + 1));

/** @throws for an item that another import has written since it was read. */
async function replace(item: NewTileDay, read: StoredTileDay | undefined): Promise<void> {
  if (await replaceTileDay(item, read, AbortSignal.timeout(callMilliseconds))) return;
  // The answer to a call may be lost, and the call be made again: then it is the item that is there.
  const now = (await readDays(item.tile, [item.day])).get(item.day);
  if (!isSame(item, now)) throw new ChangedMeanwhile(item.day);
}

/** Two imports store the same weekday of a tile at a time, of different dates; the day is in the message. */
class ChangedMeanwhile extends Error {
  constructor(day: string) {
    super(`another import has changed ${day}: repeat this one when that has ended`);
    this.name = "ChangedMeanwhile";
  }
}

function latestOf(dates: readonly string[]): string[] {
  return [...new Set(dates)].sort().reverse().slice(0, weeksRemembered);
}
