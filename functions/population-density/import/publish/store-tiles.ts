import { ImportError } from "../../../../shared/import/import-error.ts";
import type { AnonymousTile } from "../../privacy/anonymous-tiles.ts";
import type { PartCells } from "../../privacy/part-areas.ts";
import { union } from "../../privacy/parts.ts";
import { weekdayOf, weeksRemembered } from "../../privacy/typical-week.ts";
import { hoursIn, spanOn, spansOf } from "../../tiles/span.ts";
import { observedDay, tileName, typicalDay } from "../../tiles/store.ts";
import type { NewTileSpan } from "../../tiles/table.ts";
import type { HeldDay } from "../store/day-lease.ts";
import { ChangedMeanwhile, StoredSpans } from "./stored-spans.ts";
import { averagedItems, coveringItem, covers, type DayContext, mergedItems } from "./tile-items.ts";

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
  const spans = new StoredSpans(name);
  const ofTile = { ...context, cellsOf: onceEach(context.cellsOf) };
  let [items, changed] = [0, 0];
  for (const span of spansOf(context.key)) {
    const stored = await storeSpan(spans, span, tileIn(span, tile), ofTile, held);
    items += stored.items;
    changed += stored.changed;
  }
  await spans.expireWholeDays();
  return { items, changed };
}

/** What a tile has in the hours of a span. */
function tileIn(span: string, tile: AnonymousTile): AnonymousTile {
  return { ...tile, parts: tile.parts.map((part) => ({ ...part, hours: hoursIn(span, part.hours) })) };
}

/** Computes the cells of a part once for all spans of a tile. */
function onceEach(cellsOf: DayContext["cellsOf"]): DayContext["cellsOf"] {
  const known = new Map<string, PartCells>();
  return (part, precision, geohash) => {
    const cells = known.get(part) ?? cellsOf(part, precision, geohash);
    known.set(part, cells);
    return cells;
  };
}

/** Every span is stored on its own, with all that an import needs to know of it: it may end between two of them. */
async function storeSpan(
  spans: StoredSpans,
  span: string,
  tile: AnonymousTile,
  context: DayContext,
  held: HeldDay,
): Promise<DayStored> {
  const { date, kind } = context;
  const weekday = spanOn(typicalDay(weekdayOf(date)), span);
  const stored = await spans.of(kind === "observed" ? [span, weekday] : [weekday]);
  const coverage = tile.parts.map((part) => part.coverage).reduce(union);
  const typical = stored.get(weekday);
  const others = weekdays.map((other) => spanOn(other, span)).filter((other) => other !== weekday);
  const wanted: NewTileSpan[] = [];
  if (typical === undefined || !covers(typical, coverage)) {
    const ofWeek = await spans.of(others);
    wanted.push(...others.map((other) => coveringItem(spans.tile, other, coverage, ofWeek.get(other))));
  }
  const { ofParts, merged } = await mergedItems(spans, span, tile, coverage, context);
  wanted.push(...ofParts, merged);
  if (kind === "observed") {
    const dates = latestOf([date, ...(typical?.madeFrom ?? [])]);
    const before = dates.filter((each) => each !== date).map((each) => spanOn(observedDay(each), span));
    const earlier = await spans.of(before);
    const observed = [...earlier.values(), ...(dates.includes(date) ? [merged] : [])];
    wanted.push(...averagedItems(spans.tile, weekday, coverage, typical, dates, observed));
  }
  let changed = 0;
  // The day's own weekday last: once it covers what the day covers, so do the others.
  for (const item of wanted) {
    if ((await spans.store(item, held)) && isAnswered(item.day)) changed++;
  }
  return { items: others.length + (kind === "observed" ? 2 : 1), changed };
}

/** Whether callers are answered from a span; the others have what each part has in it. */
function isAnswered(span: string): boolean {
  return !span.startsWith("part#");
}

const weekdays = Array.from({ length: 7 }, (_, index) => typicalDay(index + 1));

function latestOf(dates: readonly string[]): string[] {
  return [...new Set(dates)].sort().reverse().slice(0, weeksRemembered);
}
