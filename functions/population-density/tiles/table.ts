import * as z from "zod/mini";
import { table } from "../../../shared/table.ts";

/** Some hours of a tile's day as the table holds them. */
const storedTileSpan = z.object({
  tile: z.string(),
  /** `spanAt`, or `partSpan`. */
  day: z.string(),
  /** Bytes of `encodeTileDay`. */
  hours: z.instanceof(Uint8Array),
  /** The dates that a typical weekday is made from, the latest first. */
  madeFrom: z._default(z.array(z.string()), []),
  /** The epoch second after which no request can be for an observed day. */
  expiresAt: z.optional(z.number()),
  /** Ids of the parts of the day that are published in it. */
  parts: z._default(z.array(z.string()), []),
  /**
   * Whether what each of these parts has in it is stored in an item of its own, `partSpan`. A tile of one part has none:
   * it would cost half as many write units again, and twice the storage.
   */
  separate: z._default(z.boolean(), false),
  /** Counts the writes, so that none replaces what it has not read. */
  revision: z.number(),
});

/** Some hours of a tile's day as the table holds them. */
export type StoredTileSpan = z.infer<typeof storedTileSpan>;

/** The same as imports make it. */
export type NewTileSpan = Omit<z.input<typeof storedTileSpan>, "revision">;

/**
 * Population densities: a span of a tile's day by the tile's precision and geohash, such as `7/u05kq`, and by the day
 * and the span's first hour. The day is a typical weekday, `week#1#08` (Monday) to `week#7#08`, or an observed date,
 * `day#2026-11-20#08`.
 * Only imports read what each part of a day has in a tile that several share, `part#day#2026-11-20#08#…`, and which days
 * are published, in `parts`. What is known of all densities together is in `data-set`.
 */
export const densities = table({
  name: "densities",
  partitionKey: "tile",
  sortKey: "day",
  timeToLive: "expiresAt",
  reimportable: true,
  schema: storedTileSpan,
});
