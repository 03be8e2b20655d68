import { ImportError } from "../../../../shared/import/import-error.ts";
import type { AnonymousTile } from "../../privacy/anonymous-tiles.ts";
import type { PartCells } from "../../privacy/part-areas.ts";
import { union } from "../../privacy/parts.ts";
import { ForecastErrors, type PrecisionError } from "../../tiles/forecast-error.ts";
import { hoursIn, spanOn, spansOf } from "../../tiles/span.ts";
import { tileName, typicalDay } from "../../tiles/store.ts";
import type { NewTileSpan } from "../../tiles/table.ts";
import type { HeldDay } from "../store/day-lease.ts";
import type { DayContext } from "./day-context.ts";
import { StoredSpans, whileSpansChange } from "./stored-spans.ts";
import { averagedItems, coveringItem, covers, mergedItems, type SpanItems } from "./tile-items.ts";
import { averagedSpan, forecastErrorsOf, ObservedHours, typicalSpansOf } from "./typical-spans.ts";

/** The result of storing the tiles of a day. */
export interface TilesStored {
  /** Items of the table that depend on the day. */
  readonly items: number;
  /** Items that were written, because they were absent or different. */
  readonly changed: number;
  /** How far the typical weekdays that were stored before are from an observed day. */
  readonly errors: PrecisionError[];
}

/** A tile whose day could not be read or written; the message names both, the cause is what was thrown. */
class TileNotStored extends Error {
  constructor(tile: string, date: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.name : typeof cause;
    super(`tile ${tile} of ${date} could not be stored (${reason})`, { cause });
    this.name = "TileNotStored";
  }
}

/** The maximum number of tiles that are being stored at a time; the items of one are written one after the other. */
const tilesAtOnce = 8;

/**
 * Stores tiles of a day, some at a time. Everything is written while the import holds the day.
 * @throws {ImportError} when another import has started to store the day.
 * @throws {TileNotStored} for a tile that fails; then no more calls are under way.
 */
export async function storeTiles(
  tiles: AsyncGenerator<AnonymousTile>,
  context: DayContext,
  held: HeldDay,
): Promise<TilesStored> {
  let [items, changed] = [0, 0];
  const errors = new ForecastErrors();
  const storeInTurn = async () => {
    // The first that fails ends the tiles for all.
    for await (const tile of tiles) {
      const name = tileName(tile.precision, tile.geohash);
      try {
        const stored = await whileSpansChange(held, () => storeTile(name, tile, context, held));
        items += stored.items;
        changed += stored.changed;
        errors.addAll(stored.errors);
      } catch (error) {
        if (error instanceof ImportError) throw error;
        throw new TileNotStored(name, context.date, error);
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: tilesAtOnce }, storeInTurn));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  await held.renew();
  return { items, changed, errors: errors.list() };
}

/**
 * Stores the spans of the day, and then the typical spans that are made from them. An import may end between any two
 * items: a span holds all that a later import needs to know of it.
 */
async function storeTile(
  name: string,
  tile: AnonymousTile,
  context: DayContext,
  held: HeldDay,
): Promise<TilesStored> {
  const { date, kind, key, week } = context;
  const spans = new StoredSpans(name);
  const ofTile = { ...context, cellsOf: onceEach(context.cellsOf) };
  const coverage = tile.parts.map((part) => part.coverage).reduce(union);
  const isObserved = kind === "observed";
  const typicalSpans = isObserved ? typicalSpansOf(date, week) : [];
  let changed = 0;
  const store = async (items: readonly NewTileSpan[]) => {
    changed += (await spans.store(items, held)).filter(({ day }) => isAnswered(day)).length;
  };
  const covering: NewTileSpan[] = [];
  const ofDay: SpanItems[] = [];
  for (const span of spansOf(key)) {
    const ofWeek = isObserved ? typicalSpans.map((typical) => typical.span) : [span];
    const sameHours = ofWeek.filter((each) => spanOn(key, each) === span);
    if (isObserved) await spans.of([span, ...sameHours]);
    covering.push(...(await coveringItems(spans, sameHours, coverage)));
    ofDay.push(await mergedItems(spans, span, tileIn(span, tile), coverage, ofTile));
  }
  await store([...covering, ...ofDay.flatMap(({ ofParts }) => ofParts)]);
  await store(ofDay.map(({ merged }) => merged));
  const observed = new ObservedHours(spans, new Map(ofDay.map(({ merged }) => [merged.day, merged])));
  // How far typical hours were from a day that is not typical says nothing about them.
  const errors =
    isObserved && !context.isExcluded
      ? await forecastErrorsOf(context, tile, coverage, spans, observed)
      : new ForecastErrors();
  const ofWeek: SpanItems[] = [];
  for (const typical of typicalSpans) {
    const stored = (await spans.of([typical.span])).get(typical.span);
    const known = [...typical.dates, ...(stored?.madeFrom ?? [])];
    const averaged = await averagedSpan(typical, known, week, observed);
    ofWeek.push(averagedItems(name, typical.span, coverage, stored, averaged));
  }
  await store(ofWeek.flatMap(({ ofParts }) => ofParts));
  await store(ofWeek.map(({ merged }) => merged));
  const items = spansOf(key).length * (weekdays.length + (isObserved ? 1 : 0));
  return { items, changed, errors: errors.list() };
}

/**
 * What the other weekdays need so that they cover what the day covers.
 * @param written the typical spans of these hours that are stored afterwards, in order; when the last one covers it, all do.
 */
async function coveringItems(
  spans: StoredSpans,
  written: readonly string[],
  coverage: Uint8Array,
): Promise<NewTileSpan[]> {
  const last = written.at(-1) ?? "";
  const stored = (await spans.of([last])).get(last);
  if (stored !== undefined && covers(stored, coverage)) return [];
  const others = weekdays.map((weekday) => spanOn(weekday, last)).filter((span) => !written.includes(span));
  const ofWeek = await spans.of(others);
  return others.map((span) => coveringItem(spans.tile, span, coverage, ofWeek.get(span)));
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

/** Whether callers are answered from a span; the others have what each part has in it. */
function isAnswered(span: string): boolean {
  return !span.startsWith("part#");
}

const weekdays = Array.from({ length: 7 }, (_, index) => typicalDay(index + 1));
