import { geojsonToWkb, parquetWriteBuffer, schemaFromColumnData } from "hyparquet-writer";

/** A cell's rectangle, as GeoJSON. */
interface Rectangle {
  readonly type: "Polygon";
  readonly coordinates: number[][][];
}

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
 * its cell as `geometry`, in WKB. Longitude comes first, on WGS 84. Times are moments, as they are in the CSV.
 */
export function geoParquetOf(
  rows: readonly DensityRow[],
  rectangleOf: (geohash: string) => Rectangle,
): ArrayBuffer {
  const rectangles = new Map(rows.map(({ geohash }) => [geohash, rectangleOf(geohash)]));
  const geometries = new Map(
    Array.from(rectangles, ([geohash, rectangle]) => [geohash, geojsonToWkb(rectangle)]),
  );
  const text = (name: "geohash" | "dataType" | "basis") => ({
    name,
    data: rows.map((row) => row[name]),
    type: "STRING" as const,
  });
  const time = (name: "startTime" | "endTime") => ({
    name,
    data: rows.map((row) => new Date(row[name])),
  });
  const density = (name: "pplDensity" | "minPplDensity" | "maxPplDensity") => ({
    name,
    data: rows.map(({ [name]: value }) => (value === undefined ? undefined : BigInt(value))),
    type: "INT64" as const,
  });
  const columns = [
    text("geohash"),
    time("startTime"),
    time("endTime"),
    text("dataType"),
    density("pplDensity"),
    density("minPplDensity"),
    density("maxPplDensity"),
    { name: "coveredShare", data: rows.map(({ coveredShare }) => coveredShare), type: "DOUBLE" as const },
    text("basis"),
    {
      name: "geometry",
      data: rows.map(({ geohash }) => geometries.get(geohash)),
      type: "BYTE_ARRAY" as const,
    },
  ];
  const schemaOverrides = { startTime: momentOf("startTime"), endTime: momentOf("endTime") };
  return parquetWriteBuffer({
    columnData: columns.map(({ name, data }) => ({ name, data })),
    schema: schemaFromColumnData({ columnData: columns, schemaOverrides }),
    kvMetadata: [{ key: "geo", value: JSON.stringify(metadataOf([...rectangles.values()])) }],
  });
}

/** The schema of a column of moments: without it, readers take times for those of a clock, in no zone. */
function momentOf(name: string) {
  return {
    name,
    type: "INT64",
    repetition_type: "REQUIRED",
    converted_type: "TIMESTAMP_MILLIS",
    logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" },
  } as const;
}

/** The metadata of the file; the bounding box of no rows is absent. */
function metadataOf(rectangles: readonly Rectangle[]) {
  const positions = rectangles.flatMap(({ coordinates }) => coordinates.flat());
  const least = (axis: number) =>
    positions.reduce((least, one) => Math.min(least, one[axis] ?? least), Infinity);
  const most = (axis: number) =>
    positions.reduce((most, one) => Math.max(most, one[axis] ?? most), -Infinity);
  return {
    version: "1.1.0",
    primary_column: "geometry",
    columns: {
      geometry: {
        encoding: "WKB",
        geometry_types: ["Polygon"],
        orientation: "counterclockwise",
        ...(positions.length === 0 ? {} : { bbox: [least(0), least(1), most(0), most(1)] }),
      },
    },
  };
}
