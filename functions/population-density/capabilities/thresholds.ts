import { setting } from "../../../shared/environment.ts";
import { DENSITY_K } from "../../../shared/variables/density-k.ts";
import type { DataSet } from "../tiles/data-set.ts";

/**
 * What callers are told of K: the smallest one, so that it holds for every answer, and each that densities were imported
 * with.
 */
export function announcedThresholds({ thresholds }: Pick<DataSet, "thresholds"> = { thresholds: [] }) {
  const known = thresholds.map(({ threshold }) => threshold);
  return {
    suppressionThreshold: Math.min(setting(DENSITY_K), ...known),
    suppressionThresholds: thresholds.map(({ threshold, newestDay }) => ({
      threshold,
      ...(newestDay === undefined ? {} : { newestObservedDay: newestDay }),
    })),
  };
}
