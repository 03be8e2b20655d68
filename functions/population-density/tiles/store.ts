import { getItems, putItem, updateItem } from "../../../shared/aws/database.ts";
import { ReadCache } from "../../../shared/read-cache.ts";
import { hoursIn, wholeDayOf } from "./span.ts";
import { densities, type NewTileSpan, type StoredTileSpan } from "./table.ts";
import { encodeTileDay, hoursOf, readTileDay, type TileDay } from "./tile.ts";

/** The key of a span of a tile's day. */
interface TileSpanKey {
  /** `tileName`. */
  readonly tile: string;
  /** `spanAt`. */
  readonly span: string;
}

/** The partition of a tile: its cells' precision, and what their geohashes have in common. */
export function tileName(precision: number, geohash: string): string {
  return `${precision}/${geohash}`;
}

/** The typical day of a weekday: 1 for Monday to 7 for Sunday. */
export function typicalDay(weekday: number): string {
  return `week#${weekday}`;
}

/** The day that was observed on a date, `YYYY-MM-DD` in UTC. */
export function observedDay(date: string): string {
  return `day#${date}`;
}

/** A sixteenth of the function's memory: about 800 dense tiles on a day. */
const cacheBytes = 2 ** 26;

const cache = new ReadCache<TileDay | undefined>(cacheBytes, (day) => day?.byteLength ?? 0);

/** Some spans of a tile. */
export interface TileSpans {
  /** `tileName`. */
  readonly tile: string;
  readonly spans: readonly string[];
}

/**
 * Spans of several tiles, for an answer: up to `CACHE_SECONDS` old, eventually consistent. One that is not stored is
 * the whole day as versions before stored it, if there is one.
 * @returns for each tile, in the order of `wanted`, those that are stored.
 */
export async function publishedSpans(
  wanted: readonly TileSpans[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, TileDay>[]> {
  const keys = wanted.flatMap(({ tile, spans }) => spans.map((span) => ({ tile, span })));
  const found = await publishedItems(keys, signal);
  const absent = keys.filter((key) => found.get(cacheKey(key)) === undefined);
  const wholeDays = await publishedItems(absent.map(wholeDayKey), signal);
  return wanted.map(
    ({ tile, spans }) =>
      new Map(
        spans.flatMap((span) => {
          const key = { tile, span };
          const stored = found.get(cacheKey(key)) ?? wholeDays.get(cacheKey(wholeDayKey(key)));
          return stored === undefined ? [] : [[span, stored] as const];
        }),
      ),
  );
}

/** By `cacheKey`; undefined for those that are not stored. */
async function publishedItems(
  wanted: readonly TileSpanKey[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, TileDay | undefined>> {
  const keys = new Map(wanted.map((key) => [cacheKey(key), key]));
  return await cache.getAll([...keys.keys()], async (missing) => {
    const read = new Map<string, TileDay | undefined>(missing.map((key) => [key, undefined]));
    const unread = missing.flatMap((key) => keys.get(key) ?? []).map(itemKey);
    for (const { tile, day, hours } of await getItems(densities, unread, signal, "eventual")) {
      read.set(cacheKey({ tile, span: day }), readTileDay(hours));
    }
    return read;
  });
}

function wholeDayKey({ tile, span }: TileSpanKey): TileSpanKey {
  return { tile, span: wholeDayOf(span) };
}

function itemKey({ tile, span }: TileSpanKey) {
  return { tile, day: span };
}

function cacheKey({ tile, span }: TileSpanKey): string {
  return `${tile} ${span}`;
}

/** A span as an import finds it. */
export interface FoundSpan extends Omit<StoredTileSpan, "revision"> {
  /** Undefined if it has no item of its own: it is in a whole day that a version before stored. */
  readonly revision: number | undefined;
}

/** Reads spans of a tile as they are now, each at most once; those that are not stored are left out. */
export async function readSpans(
  tile: string,
  spans: readonly string[],
  signal: AbortSignal,
): Promise<FoundSpan[]> {
  const items = await getItems(
    densities,
    spans.map((span) => itemKey({ tile, span })),
    signal,
  );
  const stored = new Set(items.map(({ day }) => day));
  const absent = spans.filter((span) => !stored.has(span));
  const wholeDays = [...new Set(absent.map(wholeDayOf))];
  const wholes = await getItems(
    densities,
    wholeDays.map((span) => itemKey({ tile, span })),
    signal,
  );
  const byDay = new Map(wholes.map((whole) => [whole.day, whole]));
  return [
    ...items,
    ...absent.flatMap((span) => {
      const whole = byDay.get(wholeDayOf(span));
      return whole === undefined ? [] : [spanOfWholeDay(whole, span)];
    }),
  ];
}

function spanOfWholeDay(whole: StoredTileSpan, span: string): FoundSpan {
  const day = readTileDay(whole.hours);
  const hours = encodeTileDay(hoursIn(span, hoursOf(day)), day.coverage);
  return { ...whole, day: span, hours, revision: undefined };
}

/**
 * Stores a span of a tile's day in place of the one that was read.
 * @param read undefined if there was none.
 * @returns false when it has changed since: nothing was written.
 */
export function replaceSpan(
  span: Omit<NewTileSpan, "revision">,
  read: FoundSpan | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const revision = (read?.revision ?? 0) + 1;
  return putItem(densities, { ...span, revision }, conditionOf(read), signal);
}

function conditionOf(read: FoundSpan | undefined) {
  if (read?.revision === undefined) return { condition: "attribute_not_exists(tile)" };
  if (read.revision === 0) return { condition: "attribute_exists(tile) AND attribute_not_exists(revision)" };
  return { condition: "revision = :read", values: { ":read": read.revision } };
}

/**
 * Lets a whole day expire that a version before stored, once all of its spans are. Not at once: an answer that has just
 * found one of them absent reads it.
 */
export async function expireWholeDay(tile: string, day: string, signal: AbortSignal): Promise<void> {
  const update = { update: "SET expiresAt = :at", values: { ":at": Math.floor(Date.now() / 1_000) + 3_600 } };
  await updateItem(densities, { tile, day }, { ...update, condition: "attribute_exists(tile)" }, signal);
}
