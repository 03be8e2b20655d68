import { ImportError } from "../../../../shared/import/import-error.ts";
import type { AnonymousTile } from "../../privacy/anonymous-tiles.ts";
import { union } from "../../privacy/parts.ts";
import { weekdayOf, weeksRemembered } from "../../privacy/typical-week.ts";
import { observedDay, replaceTileDay, tileName, typicalDay } from "../../tiles/store.ts";
import type { NewTileDay, StoredTileDay } from "../../tiles/table.ts";
import type { HeldDay } from "../store/day-lease.ts";
import {
  averagedItems,
  callMilliseconds,
  coveringItem,
  covers,
  type DayContext,
  isSame,
  mergedItems,
  StoredDays,
} from "./tile-items.ts";

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

/**
 * Stores tiles of a day, some at a time. Whatever is written is written while the day is the import's own.
 * @throws {ImportError} when another import has started to store the day.
 * @throws {TileNotStored} for a tile that fails; then no more calls are under way.
 */
export async function storeTiles(
  tiles: AsyncGenerator<AnonymousTile>,
  context: DayContext,
  held: HeldDay,
): Promise<DayStored> {
  let [items, changed] = [0, 0];
  const storeInTurn = async () => {
    // The first that fails ends the tiles for all.
    for await (const tile of tiles) {
      const name = tileName(tile.precision, tile.geohash);
      try {
        const stored = await storeTileAnew(name, tile, context, held);
        items += stored.items;
        changed += stored.changed;
      } catch (error) {
        if (error instanceof ImportError) throw error;
        throw new TileNotStored(name, context.date, error);
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: tilesAtOnce }, storeInTurn));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  await held.renew();
  return { items, changed };
}

/** How often a tile is read and stored anew when others change its weekdays meanwhile. */
const maxTries = 10;

async function storeTileAnew(
  name: string,
  tile: AnonymousTile,
  context: DayContext,
  held: HeldDay,
): Promise<DayStored> {
  for (let tries = 1; ; tries++) {
    try {
      return await storeTile(name, tile, context, held);
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile) || tries === maxTries) throw error;
      // By whom it was changed: an import of another date, or the one that has the day now.
      await held.renew();
    }
  }
}

async function storeTile(
  name: string,
  tile: AnonymousTile,
  context: DayContext,
  held: HeldDay,
): Promise<DayStored> {
  const { date, kind, key } = context;
  const weekday = typicalDay(weekdayOf(date));
  const days = new StoredDays(name);
  const stored = await days.of(kind === "observed" ? [key, weekday] : [weekday]);
  const coverage = tile.parts.map((part) => part.coverage).reduce(union);
  const typical = stored.get(weekday);
  const others = weekdays.filter((other) => other !== weekday);
  const wanted: NewTileDay[] = [];
  if (typical === undefined || !covers(typical, coverage)) {
    const ofWeek = await days.of(others);
    wanted.push(...others.map((other) => coveringItem(name, other, coverage, ofWeek.get(other))));
  }
  const { ofParts, merged } = await mergedItems(days, tile, coverage, stored.get(key), context);
  wanted.push(...ofParts, merged);
  if (kind === "observed") {
    const dates = latestOf([date, ...(typical?.madeFrom ?? [])]);
    const earlier = await days.of(dates.filter((each) => each !== date).map(observedDay));
    const observed = [...earlier.values(), ...(dates.includes(date) ? [merged] : [])];
    wanted.push(...averagedItems(name, weekday, coverage, typical, dates, observed));
  }
  // The day's own weekday last: once it covers what the day covers, so do the others.
  const before = await days.of(wanted.map(({ day }) => day));
  const different = wanted.filter((item) => !isSame(item, before.get(item.day)));
  for (const item of different) {
    await held.hold();
    await replace(item, before.get(item.day));
  }
  const changed = different.filter(({ day }) => isAnswered(day)).length;
  return { items: others.length + (kind === "observed" ? 2 : 1), changed };
}

/** Whether callers are answered from a day; the others have what each part has in it. */
function isAnswered(day: string): boolean {
  return !day.startsWith("part#");
}

const weekdays = Array.from({ length: 7 }, (_, index) => typicalDay(index + 1));

/** @throws for an item that another import has written since it was read. */
async function replace(item: NewTileDay, read: StoredTileDay | undefined): Promise<void> {
  if (await replaceTileDay(item, read, AbortSignal.timeout(callMilliseconds))) return;
  // The answer to a call may be lost, and the call be made again: then it is the item that is there.
  const now = (await new StoredDays(item.tile).of([item.day])).get(item.day);
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
