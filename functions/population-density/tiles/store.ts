import * as z from "zod/mini";
import { getItems, putItem } from "../../../shared/aws/database.ts";

/** Where a day of a tile is stored. */
export interface TileDayKey {
  /** `tileName`. */
  readonly tile: string;
  /** `typicalDay` or `observedDay`. */
  readonly day: string;
}

/** A day of a tile as the table holds it. */
const storedTileDay = z.object({
  tile: z.string(),
  day: z.string(),
  /** Bytes of `encodeTileDay`. */
  hours: z.instanceof(Uint8Array),
  /** Of a typical weekday: the dates it is made from, the latest first. */
  madeFrom: z._default(z.array(z.string()), []),
  /** Of an observed day: the epoch second after which nobody asks for it. */
  expiresAt: z.optional(z.number()),
  /** Ids of the parts of the day that are published in it. */
  parts: z._default(z.array(z.string()), []),
  /** Whether what each of these parts has in it is stored in an item of its own, `partDay`. */
  separate: z._default(z.boolean(), false),
  /** Counts the writes, so that none replaces what it has not read. */
  revision: z._default(z.number(), 0),
});

/** A day of a tile as the table holds it. */
export type StoredTileDay = z.infer<typeof storedTileDay>;

/** A day of a tile as it is written. */
export type NewTileDay = z.input<typeof storedTileDay>;

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

/** Reads days of tiles, each at most once; those that are not stored are left out. */
export function readTileDays(keys: readonly TileDayKey[], signal: AbortSignal): Promise<StoredTileDay[]> {
  return getItems(
    "densities",
    keys.map(({ tile, day }) => ({ tile, day })),
    storedTileDay,
    signal,
  );
}

/** Stores a day of a tile in place of the one that is there. */
export async function writeTileDay(tileDay: NewTileDay, signal: AbortSignal): Promise<void> {
  await putItem("densities", tileDay, {}, signal);
}

/**
 * Stores a day of a tile in place of the one that was read.
 * @param read undefined if there was none.
 * @returns false when it has changed since: nothing was written.
 */
export function replaceTileDay(
  tileDay: Omit<NewTileDay, "revision">,
  read: StoredTileDay | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const revision = (read?.revision ?? 0) + 1;
  return putItem("densities", { ...tileDay, revision }, conditionOf(read), signal);
}

function conditionOf(read: StoredTileDay | undefined) {
  if (read === undefined) return { condition: "attribute_not_exists(tile)" };
  if (read.revision === 0) return { condition: "attribute_exists(tile) AND attribute_not_exists(revision)" };
  return { condition: "revision = :read", values: { ":read": read.revision } };
}
