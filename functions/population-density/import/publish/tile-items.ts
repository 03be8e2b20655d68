import type { AnonymousTile } from "../../privacy/anonymous-tiles.ts";
import { filledUp, type MergedPart, mergedHours } from "../../privacy/merged-parts.ts";
import { union } from "../../privacy/parts.ts";
import { cellAreas } from "../../privacy/tile-pyramid.ts";
import { partSpan } from "../../tiles/span.ts";
import type { NewTileSpan, StoredTileSpan } from "../../tiles/table.ts";
import { encodeTileDay, hoursOf, hoursPerDay, isCovered, readTileDay } from "../../tiles/tile.ts";
import type { TileHour } from "../../tiles/tile-hour.ts";
import type { ListedPart } from "../store/tables.ts";
import type { DayContext } from "./day-context.ts";
import type { StoredSpans } from "./stored-spans.ts";
import type { AveragedSpan } from "./typical-spans.ts";

const daySeconds = 86_400;

/** The epoch second after which no request can be for an observed day. */
export function expiryOf(date: string): number {
  return endOf(date) + daysKept * daySeconds;
}

/** Longer than three months, as far back as a request may ask. */
export const daysKept = 100;

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1_000);
}

function endOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`) / 1_000 + daySeconds;
}

/**
 * What parts of a day have in a tile, as it was published before, by their ids.
 * @param listed the parts of the day: of others nobody knows what they were.
 */
export async function storedParts(
  spans: StoredSpans,
  item: StoredTileSpan | undefined,
  listed: readonly ListedPart[],
): Promise<Map<string, readonly (TileHour | undefined)[]>> {
  const parts = new Map<string, readonly (TileHour | undefined)[]>();
  // Some items of an expired span may be deleted already.
  if (item === undefined || (item.expiresAt ?? Number.POSITIVE_INFINITY) < seconds(Date.now())) return parts;
  const known = listed.map(({ id }) => id).filter((id) => item.parts.includes(id));
  if (!item.separate) {
    for (const id of known) parts.set(id, itemHours(item));
    return parts;
  }
  const found = await spans.of(known.map((id) => partSpan(item.day, id)));
  for (const id of known) {
    const ofPart = found.get(partSpan(item.day, id));
    if (ofPart === undefined) throw new Error(`part ${id} of ${item.day} is gone`);
    parts.set(id, itemHours(ofPart));
  }
  return parts;
}

/** The items of a span. */
export interface SpanItems {
  /** What each part has in it, if several share it; to be stored first. */
  readonly ofParts: readonly NewTileSpan[];
  /** What is published. */
  readonly merged: NewTileSpan;
}

function itemHours({ hours }: Pick<StoredTileSpan, "hours">): (TileHour | undefined)[] {
  return hoursOf(readTileDay(hours));
}

/**
 * The span with what the import publishes of its parts and what was published of the others. Hours that are not
 * counted now stay as they are stored. Of a tile with several parts, or in which anything is of no part, each part has
 * an item of its own.
 */
export async function mergedItems(
  spans: StoredSpans,
  span: string,
  tile: AnonymousTile,
  coverage: Uint8Array,
  context: DayContext,
): Promise<SpanItems> {
  const item = (await spans.of([span])).get(span);
  const before = await storedParts(spans, item, context.parts);
  const beforeHours =
    item === undefined
      ? []
      : before.size === 1 && !item.separate
        ? ([...before.values()][0] ?? [])
        : itemHours(item);
  const parts = new Map<string, MergedPart>();
  // Their order must not depend on which came first: sums are rounded differently in another one.
  for (const id of [...new Set([...before.keys(), ...tile.parts.map(({ part }) => part)])].sort()) {
    const published = tile.parts.find(({ part }) => part === id);
    const hours = before.get(id) ?? [];
    const boundPeople = context.boundPeopleOf(id);
    const { areas, bounds } = published ?? context.cellsOf(id, tile.precision, tile.geohash);
    const known = published?.hours.map((hour, index) => hour ?? hours[index]) ?? hours;
    parts.set(id, { hours: known, boundPeople, areas, bounds });
  }
  const isCounted = (hour: number) => tile.parts[0]?.hours[hour] !== undefined;
  const wholeAreas = cellAreas(tile.geohash, tile.precision);
  const hours = mergedHours([...parts.values()], wholeAreas).map((hour, index) => {
    const stored = beforeHours[index];
    if (hour === undefined || (!isCounted(index) && stored !== undefined)) return stored;
    if (stored === undefined || context.kind === "observed") return hour;
    return filledUp(hour, stored, (cell) => isCovered(coverage, cell));
  });
  const all = item === undefined ? coverage : union(coverage, readTileDay(item.hours).coverage);
  const [only] = parts.values();
  const isOnly = parts.size === 1 && hours.every((hour, index) => hour === only?.hours[index]);
  const expiry = context.kind === "observed" ? { expiresAt: expiryOf(context.date) } : {};
  const separate = !isOnly || item?.separate === true;
  const merged = {
    tile: spans.tile,
    day: span,
    hours: encodeTileDay(hours, all),
    madeFrom: [],
    parts: [...parts.keys()],
    separate,
    ...expiry,
  };
  const apart = separate ? [...parts] : [];
  return {
    ofParts: apart.map(([id, part]) => partItem(spans.tile, span, id, part.hours, expiry)),
    merged,
  };
}

function partItem(
  tile: string,
  span: string,
  id: string,
  hours: readonly (TileHour | undefined)[],
  expiry: Pick<NewTileSpan, "expiresAt">,
): NewTileSpan {
  const all = Array.from({ length: hoursPerDay }, (_, hour) => hours[hour]);
  return { tile, day: partSpan(span, id), hours: encodeTileDay(all), ...expiry };
}

/**
 * A weekday of which a day was observed, in a span: what was never observed stays as it is stored. What was counted as
 * typical gets items of its own: it must be there when another part of it comes.
 */
export function averagedItems(
  tile: string,
  span: string,
  coverage: Uint8Array,
  stored: StoredTileSpan | undefined,
  { hours: averaged, madeFrom }: AveragedSpan,
): SpanItems {
  const before = stored && readTileDay(stored.hours);
  const hours = averaged.map((hour, index) => {
    const known = before?.openHour(index);
    return hour === undefined || known === undefined ? (hour ?? known) : filledUp(hour, known);
  });
  const ownParts = stored?.parts ?? [];
  const merged = {
    tile,
    day: span,
    hours: encodeTileDay(hours, before === undefined ? coverage : union(coverage, before.coverage)),
    madeFrom,
    parts: ownParts,
    separate: stored?.separate === true || ownParts.length > 0,
  };
  if (stored === undefined || stored.separate) return { ofParts: [], merged };
  return { ofParts: ownParts.map((id) => partItem(tile, span, id, itemHours(stored), {})), merged };
}

/** An item that gives another weekday the same coverage, so that coverage does not depend on the weekday. */
export function coveringItem(
  tile: string,
  span: string,
  coverage: Uint8Array,
  stored: StoredTileSpan | undefined,
): NewTileSpan {
  if (stored === undefined) {
    return {
      tile,
      day: span,
      hours: encodeTileDay(Array(hoursPerDay).fill(undefined), coverage),
      madeFrom: [],
    };
  }
  if (covers(stored, coverage)) return stored;
  const all = union(coverage, readTileDay(stored.hours).coverage);
  return { ...stored, hours: encodeTileDay(itemHours(stored), all) };
}

/** Whether a span of a tile covers the cells of a coverage. */
export function covers({ hours }: Pick<StoredTileSpan, "hours">, coverage: Uint8Array): boolean {
  const stored = readTileDay(hours).coverage;
  return isEqual(union(stored, coverage), stored);
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}
