/** The answer as a GeoParquet file, made from what the page has; loaded when somebody wants one. */
import { geoParquetOf } from "../../shared/geo-parquet.ts";
import { saveFile } from "../dom.ts";
import { ringOf } from "./cells.ts";
import type { Densities } from "./densities.ts";

/** Saves the cells of all hours, a row each, as `ncs density` does. */
export function saveParquet({ geohashes, coveredShares, hours }: Densities): void {
  const rows = hours.flatMap(({ start, end, basis, values }) =>
    values.map(({ dataType, density, min, max }, index) => ({
      geohash: geohashes[index] ?? "",
      startTime: start.toISOString(),
      endTime: end.toISOString(),
      dataType,
      basis,
      pplDensity: density,
      minPplDensity: min,
      maxPplDensity: max,
      coveredShare: coveredShares[index] ?? 1,
    })),
  );
  const type = "application/vnd.apache.parquet";
  saveFile(
    `densities-${rows[0]?.startTime.slice(0, 13)}.parquet`,
    new Blob([geoParquetOf(rows, rectangleOf)], { type }),
  );
}

function rectangleOf(geohash: string) {
  return { type: "Polygon" as const, coordinates: [ringOf(geohash)] };
}
