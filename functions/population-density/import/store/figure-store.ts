/**
 * The figures of observed days, by which later ones are judged: published numbers, which expire with the densities, and
 * are restored with them.
 */
import { deflateRawSync, inflateRawSync } from "node:zlib";
import * as z from "zod/mini";
import { inTime } from "../../../../shared/aws/clients.ts";
import { putItem, queryPartition } from "../../../../shared/aws/database.ts";
import { withSchema } from "../../../../shared/table.ts";
import { densities } from "../../tiles/table.ts";
import { decodeFigures, encodeFigures, joined, someOf } from "../judge/figures.ts";
import type { PartFigures } from "../judge/part-figures.ts";

const table = withSchema(densities, z.object({ day: z.string(), figures: z.instanceof(Uint8Array) }));

/** 260 KB before they are compressed; an item may have 400 KB. */
const tilesPerItem = 1_024;

function partitionOf(date: string): string {
  return `figures/${date}`;
}

/** The figures of an observed day, part by part. */
export async function readFigures(date: string): Promise<PartFigures[]> {
  const parts = new Map<string, ReturnType<typeof decodeFigures>[]>();
  for (const { day, figures } of await queryPartition(table, partitionOf(date), inTime())) {
    const [part = ""] = day.split("/");
    parts.set(part, [...(parts.get(part) ?? []), decodeFigures(inflateRawSync(figures))]);
  }
  return [...parts].map(([part, some]) => ({ part, figures: joined(some) }));
}

/** Stores the figures of parts of an observed day. @param expiresAt an epoch second (`expiryOf`). */
export async function writeFigures(
  date: string,
  parts: readonly PartFigures[],
  expiresAt: number,
): Promise<void> {
  for (const { part, figures } of parts) {
    for (let from = 0; from < figures.tiles.length; from += tilesPerItem) {
      const day = `${part}/${String(from / tilesPerItem).padStart(4, "0")}`;
      const bytes = deflateRawSync(encodeFigures(someOf(figures, from, from + tilesPerItem)));
      await putItem(densities, { tile: partitionOf(date), day, figures: bytes, expiresAt }, {}, inTime());
    }
  }
}
