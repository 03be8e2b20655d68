import type { QuerySize } from "./size.ts";

/** The most bytes that an answer may have and not be large. */
const maxSmallBytes = 200_000;

/** Bytes for each cell and each cell-hour, uncompressed, measured on the demo city at precision 7. */
const typicalBytes = {
  "application/json": { cell: 0, slot: 115 },
  "application/geo+json": { cell: 455, slot: 50 },
  "text/csv": { cell: 0, slot: 96 },
  "application/x-ndjson": { cell: 0, slot: 216 },
} as const;

/** What a caller chooses of a format besides its media type; each is of one format, and ignored by the others. */
export interface FormatChoices {
  /** Further columns of CSV, which say where the cell is. */
  readonly geometry?: "POINT" | "WKT" | undefined;
  /** What a feature of GeoJSON is. */
  readonly featuresPer?: "CELL" | "HOUR" | undefined;
}

/** What further columns add to each slot of CSV. */
const columnBytes = { POINT: 37, WKT: 189 } as const;

/** GeoJSON with a feature for each slot. */
const featuresOfHours = { cell: 0, slot: 483 } as const;

/** What each cell, and each cell in each hour, is counted as in an answer of this format. */
export function countedBytes(
  format: keyof typeof typicalBytes,
  { geometry, featuresPer }: FormatChoices = {},
): { readonly cell: number; readonly slot: number } {
  if (format === "application/geo+json" && featuresPer === "HOUR") return featuresOfHours;
  const { cell, slot } = typicalBytes[format];
  const columns = format === "text/csv" && geometry !== undefined ? columnBytes[geometry] : 0;
  return { cell, slot: slot + columns };
}

/**
 * Whether an answer is so large that its caller can keep an execution busy by reading it slowly. That a connection
 * takes smaller ones at once is assumed (docs/decisions/0010). Its bytes are counted as if every cell had an estimate.
 */
export function isLarge(
  { cells, slots }: Pick<QuerySize, "cells" | "slots">,
  format: keyof typeof typicalBytes,
  choices?: FormatChoices,
): boolean {
  const { cell, slot } = countedBytes(format, choices);
  return cells * cell + slots * slot > maxSmallBytes;
}
