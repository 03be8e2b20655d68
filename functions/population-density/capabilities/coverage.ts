import type { DataSet } from "../tiles/data-set.ts";

/** The coverage members of the capabilities; none before the first import. */
export function announcedCoverage(dataSet: DataSet | undefined) {
  const { coverage: box, outline } = dataSet ?? {};
  if (box === undefined || outline === undefined) return {};
  const { west, south, east, north } = box;
  return {
    coverage: {
      type: "MultiPolygon" as const,
      bbox: [west, south, east, north],
      coordinates: outline.coordinates,
    },
    coveredShares: outline.shares.map(({ precision, share }) => ({
      precision,
      coveredShare: Number(share.toPrecision(4)),
    })),
  };
}
