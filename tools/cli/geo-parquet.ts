import { geojsonToWkb, parquetWriteBuffer } from "hyparquet-writer";
import { type Box, boxOf } from "../../functions/population-density/cover/box.ts";
import { polygonOfBox } from "../import/density/box.ts";

/** A cell in an hour, as a line of `application/x-ndjson`. */
export interface DensityRow {
  readonly geohash: string;
  /** RFC 3339. */
  readonly startTime: string;
  /** RFC 3339. */
  readonly endTime: string;
  readonly dataType: string;
  readonly basis?: string | undefined;
  readonly pplDensity?: number | undefined;
  readonly minPplDensity?: number | undefined;
  readonly maxPplDensity?: number | undefined;
  readonly coveredShare: number;
}

/**
 * Rows as a GeoParquet 1.1 file (https://geoparquet.org/releases/v1.1.0/): the members of each row, and the rectangle of
 * its cell as `geometry`, in WKB. Longitude comes first, on WGS 84.
 */
export function geoParquetOf(rows: readonly DensityRow[]): ArrayBuffer {
  const boxes = new Map(rows.map(({ geohash }) => [geohash, boxOf(geohash)]));
  const geometries = new Map(
    Array.from(boxes, ([geohash, box]) => [geohash, geojsonToWkb(polygonOfBox(box))]),
  );
  const text = (name: "geohash" | "dataType" | "basis") => ({
    name,
    data: rows.map((row) => row[name]),
    type: "STRING" as const,
  });
  const time = (name: "startTime" | "endTime") => ({
    name,
    data: rows.map((row) => new Date(row[name])),
    type: "TIMESTAMP" as const,
  });
  const density = (name: "pplDensity" | "minPplDensity" | "maxPplDensity") => ({
    name,
    data: rows.map(({ [name]: value }) => (value === undefined ? undefined : BigInt(value))),
    type: "INT64" as const,
  });
  return parquetWriteBuffer({
    columnData: [
      text("geohash"),
      time("startTime"),
      time("endTime"),
      text("dataType"),
      density("pplDensity"),
      density("minPplDensity"),
      density("maxPplDensity"),
      { name: "coveredShare", data: rows.map(({ coveredShare }) => coveredShare), type: "DOUBLE" },
      text("basis"),
      { name: "geometry", data: rows.map(({ geohash }) => geometries.get(geohash)), type: "BYTE_ARRAY" },
    ],
    kvMetadata: [{ key: "geo", value: JSON.stringify(metadataOf([...boxes.values()])) }],
  });
}

/** The metadata of the file; the bounding box of no rows is absent. */
function metadataOf(boxes: readonly Box[]) {
  const least = (side: keyof Box) => boxes.reduce((least, box) => Math.min(least, box[side]), Infinity);
  const most = (side: keyof Box) => boxes.reduce((most, box) => Math.max(most, box[side]), -Infinity);
  return {
    version: "1.1.0",
    primary_column: "geometry",
    columns: {
      geometry: {
        encoding: "WKB",
        geometry_types: ["Polygon"],
        orientation: "counterclockwise",
        ...(boxes.length === 0 ? {} : { bbox: [least("west"), least("south"), most("east"), most("north")] }),
      },
    },
  };
}
