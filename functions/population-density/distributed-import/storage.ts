import { setting } from "../../../shared/environment.ts";
import type { DayStorage } from "../import/day-division.ts";
import type { ImportOrder } from "./exchange.ts";

/** How the days of an import are stored, as it was ordered and this function is configured. */
export function storageOf({
  typical,
  marketShare,
}: Pick<ImportOrder, "marketShare" | "typical">): DayStorage {
  return {
    kind: typical ? "typical" : "observed",
    precisions: setting("DENSITY_PRECISIONS"),
    threshold: setting("DENSITY_K"),
    marketShare,
  };
}

/**
 * The precision of the one tile that holds all tiles of a prefix, which are added up to it apart from all others.
 * @param precision of the counted cells.
 */
export function topPrecision(precision: number): number {
  return Math.max(2, precision - 1);
}
