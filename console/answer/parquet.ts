/** The answer as a GeoParquet file, made of the rows that the API answers; loaded on demand. */
import { geoParquetOf } from "../../shared/geo-parquet.ts";
import { saveFile } from "../base/dom.ts";
import { ringOf } from "../data/cells.ts";
import type { DensityRequest } from "../data/query.ts";
import { combineRows } from "./combine.ts";
import { type NameFile, retrieveAs } from "./download.ts";

/**
 * Saves the cells of all hours, a row each, as `ncs density` does.
 * @throws {ApiError} as {@link retrieveAs} does.
 */
export async function saveParquet(
  requests: readonly DensityRequest[],
  nameFile: NameFile,
  signal: AbortSignal,
): Promise<void> {
  const rows = combineRows(await retrieveAs("application/x-ndjson", requests, signal));
  const type = "application/vnd.apache.parquet";
  saveFile(nameFile(".parquet"), new Blob([geoParquetOf(rows, rectangleOf)], { type }));
}

function rectangleOf(geohash: string) {
  return { type: "Polygon" as const, coordinates: [ringOf(geohash)] };
}
