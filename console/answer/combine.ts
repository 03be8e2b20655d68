/** One file of those that the API answers for several areas. A cell of several areas is in it once. */
import type { Feature, FeatureCollection, Polygon } from "geojson";
import type { DensityRow } from "../../shared/geo-parquet.ts";
import { combinedStatus } from "../data/densities.ts";

/** The API's GeoJSON, as far as combining reads it. */
interface CellCollection extends FeatureCollection<Polygon> {
  readonly features: Feature<Polygon>[];
  readonly status: string;
  /** The times of each hour. */
  readonly intervals: readonly unknown[];
}

/** Combines CSV files that have the same columns, of which the first two are the cell and the start of the hour. */
export function combineCsv(files: readonly string[]): string {
  const rows = new Map<string, string>();
  for (const file of files) {
    for (const row of file.split("\r\n")) {
      const key = row.split(",", 2).join();
      if (row !== "" && !rows.has(key)) rows.set(key, row);
    }
  }
  return [...rows.values(), ""].join("\r\n");
}

/** The rows of files of NDJSON. */
export function combineRows(files: readonly string[]): DensityRow[] {
  const rows = new Map<string, DensityRow>();
  for (const line of files.flatMap((file) => file.split("\n"))) {
    if (line === "") continue;
    const row = JSON.parse(line) as DensityRow;
    const key = `${row.geohash},${row.startTime}`;
    if (!rows.has(key)) rows.set(key, row);
  }
  return [...rows.values()];
}

/** Combines collections of cells in the same hours. */
export function combineGeoJson(files: readonly string[]): string {
  const collections = files.map((file) => JSON.parse(file) as CellCollection);
  const cells = collections.flatMap(({ features }) => features);
  const byGeohash = new Map(cells.map((cell) => [cell.id, cell]));
  // An area of which nothing is covered has no hours.
  const { intervals = [] } = collections.find((one) => one.intervals.length > 0) ?? {};
  return JSON.stringify({
    type: "FeatureCollection",
    status: combinedStatus(collections.map(({ status }) => status)),
    intervals,
    features: [...byGeohash.values()],
  });
}
