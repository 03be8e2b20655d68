import type { QuerySize } from "./size.ts";

const maxSmallBytes = 200_000;

/** What each cell and each slot adds to an answer that is not compressed; the demo city's, at precision 7. */
const typicalBytes = {
  "application/json": { cell: 0, slot: 115 },
  "application/geo+json": { cell: 440, slot: 48 },
  "text/csv": { cell: 0, slot: 94 },
  "application/x-ndjson": { cell: 0, slot: 199 },
} as const;

/**
 * Whether an answer is so large that its caller can keep an execution busy by reading it slowly. That a connection
 * takes smaller ones at once is assumed (docs/decisions/0011). Its bytes are counted as if every cell had an estimate.
 */
export function isLarge(
  { cells, slots }: Pick<QuerySize, "cells" | "slots">,
  format: keyof typeof typicalBytes,
): boolean {
  const { cell, slot } = typicalBytes[format];
  return cells * cell + slots * slot > maxSmallBytes;
}
