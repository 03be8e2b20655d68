import { getItems, putItem } from "../../../shared/aws/database.ts";
import { ReadCache } from "../../../shared/read-cache.ts";
import { densities, type NewTileDay, type StoredTileDay } from "./table.ts";
import { readTileDay, type TileDay } from "./tile.ts";

/** The key of a day of a tile. */
export interface TileDayKey {
  /** `tileName`. */
  readonly tile: string;
  /** `typicalDay` or `observedDay`. */
  readonly day: string;
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

/** What one part of a day has in a tile that several parts share. @param day `typicalDay` or `observedDay`. */
export function partDay(day: string, part: string): string {
  return `part#${day}#${part}`;
}

/** A sixteenth of the function's memory: about 800 dense tiles on a day. */
const cacheBytes = 2 ** 26;

const cache = new ReadCache<TileDay | undefined>(cacheBytes, (day) => day?.byteLength ?? 0);

/**
 * Spans of several tiles, for an answer: up to `CACHE_SECONDS` old, eventually consistent. One that is not stored is
 * the whole day as versions before stored it, if there is one.
 * @returns for each tile, in the order of `wanted`, those that are stored.
 */
export async function publishedDays(
  tiles: readonly string[],
  days: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, TileDay>[]> {
  const keys = new Map(tiles.flatMap((tile) => days.map((day) => [cacheKey({ tile, day }), { tile, day }])));
  const found = await cache.getAll([...keys.keys()], async (missing) => {
    const read = new Map<string, TileDay | undefined>(missing.map((key) => [key, undefined]));
    const wanted = missing.flatMap((key) => keys.get(key) ?? []);
    for (const stored of await getItems(densities, wanted, signal, "eventual")) {
      read.set(cacheKey(stored), readTileDay(stored.hours));
    }
    return read;
  });
  return tiles.map(
    (tile) =>
      new Map(
        days.flatMap((day) => {
          const stored = found.get(cacheKey({ tile, day }));
          return stored === undefined ? [] : [[day, stored] as const];
        }),
      ),
  );
}

function cacheKey({ tile, day }: TileDayKey): string {
  return `${tile} ${day}`;
}

/** Reads days of tiles as they are now, each at most once; those that are not stored are left out. */
export function readTileDays(keys: readonly TileDayKey[], signal: AbortSignal): Promise<StoredTileDay[]> {
  return getItems(
    densities,
    keys.map(({ tile, day }) => ({ tile, day })),
    signal,
  );
}

/** Stores a day of a tile in place of the one that is there. */
export async function writeTileDay(tileDay: NewTileDay, signal: AbortSignal): Promise<void> {
  await putItem(densities, tileDay, {}, signal);
}

/**
 * Stores a span of a tile's day in place of the one that was read.
 * @param read undefined if there was none.
 * @returns false when it has changed since: nothing was written.
 */
export function replaceTileDay(
  tileDay: Omit<NewTileDay, "revision">,
  read: StoredTileDay | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const revision = (read?.revision ?? 0) + 1;
  return putItem(densities, { ...tileDay, revision }, conditionOf(read), signal);
}

function conditionOf(read: StoredTileDay | undefined) {
  if (read === undefined) return { condition: "attribute_not_exists(tile)" };
  if (read.revision === 0) return { condition: "attribute_exists(tile) AND attribute_not_exists(revision)" };
  return { condition: "revision = :read", values: { ":read": read.revision } };
}
