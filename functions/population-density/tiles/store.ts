import { getItems, insertItems, putItem } from "../../../shared/aws/database.ts";
import { ReadCache } from "../../../shared/read-cache.ts";
import { densities, type NewTileSpan, type StoredTileSpan } from "./table.ts";
import { readTileDay, type TileDay } from "./tile.ts";

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
 * Spans of several tiles, for an answer: up to `CACHE_SECONDS` old, eventually consistent.
 * @returns for each tile, in the order of `wanted`, those that are stored.
 */
export async function publishedSpans(
  wanted: readonly TileSpans[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, TileDay>[]> {
  const keys = wanted.flatMap(({ tile, spans }) => spans.map((span) => ({ tile, span })));
  const found = await publishedItems(keys, signal);
  return wanted.map(
    ({ tile, spans }) =>
      new Map(
        spans.flatMap((span) => {
          const stored = found.get(cacheKey({ tile, span }));
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

function itemKey({ tile, span }: TileSpanKey) {
  return { tile, day: span };
}

function cacheKey({ tile, span }: TileSpanKey): string {
  return `${tile} ${span}`;
}

/** Reads spans of a tile as they are now, each at most once; those that are not stored are left out. */
export async function readSpans(
  tile: string,
  spans: readonly string[],
  signal: AbortSignal,
): Promise<StoredTileSpan[]> {
  const keys = spans.map((span) => itemKey({ tile, span }));
  return await getItems(densities, keys, signal);
}

/**
 * Stores spans of tiles that were read and not found.
 * @returns for each whether it is stored; where false, it is there by now and stays as it is.
 */
export function createSpans(spans: readonly NewTileSpan[], signal: AbortSignal): Promise<boolean[]> {
  const items = spans.map((span) => ({ ...span, revision: 1 }));
  return insertItems(densities, items, signal);
}

/**
 * Replaces a span of a tile's day by the one that was made from it.
 * @returns false when it has changed since it was read: nothing was written.
 */
export function replaceSpan(
  span: NewTileSpan,
  { revision }: Pick<StoredTileSpan, "revision">,
  signal: AbortSignal,
): Promise<boolean> {
  const condition = { condition: "revision = :read", values: { ":read": revision } };
  return putItem(densities, { ...span, revision: revision + 1 }, condition, signal);
}
