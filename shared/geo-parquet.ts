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
  readonly basis: string | null;
  readonly pplDensity: number | null;
  readonly minPplDensity: number | null;
  readonly maxPplDensity: number | null;
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
    data: rows.map(({ [name]: value }) => (typeof value === "number" ? BigInt(value) : null)),
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
  const file = parquetWriteBuffer({
    columnData: columns.map(({ name, data }) => ({ name, data })),
    schema: schemaFromColumnData({ columnData: columns, schemaOverrides }),
    kvMetadata: [{ key: "geo", value: JSON.stringify(metadataOf([...rectangles.values()])) }],
  });
  if (rows.length === 0) nameTypeOfRowGroups(file);
  return file;
}

/** In the footer, by Thrift's compact protocol: `num_rows` is 0, and `row_groups` is a list of none. */
const noRows = [0x16, 0x00, 0x19];
const listOfNothing = 0x00;
const listOfStructs = 0x0c;

/**
 * Gives the empty list of row groups the type of its elements, which hyparquet-writer leaves at 0: readers such as
 * arrow-rs refuse a list of a type that does not exist.
 */
function nameTypeOfRowGroups(file: ArrayBuffer): void {
  const bytes = new Uint8Array(file);
  const expected = [...noRows, listOfNothing];
  const at = bytes.findIndex((_, start) => expected.every((byte, index) => bytes[start + index] === byte));
  if (at < 0) throw new Error("the footer of a file without rows is not where it was");
  bytes[at + noRows.length] = listOfStructs;
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
  return {
    version: "1.1.0",
    primary_column: "geometry",
    columns: {
      geometry: {
        encoding: "WKB",
        geometry_types: ["Polygon"],
        orientation: "counterclockwise",
        ...(rectangles.length === 0 ? {} : { bbox: boxAround(rectangles) }),
      },
    },
  };
}

/** The box of positions of GeoJSON, in degrees, that do not cross the antimeridian. */
export function boxOfPositions(positions: readonly (readonly number[])[]) {
  const along = (axis: number) => positions.map((position) => position[axis] ?? Number.NaN);
  const [longitudes, latitudes] = [along(0), along(1)];
  return {
    west: Math.min(...longitudes),
    south: Math.min(...latitudes),
    east: Math.max(...longitudes),
    north: Math.max(...latitudes),
  };
}

/** West, south, east and north of the narrowest box; across the antimeridian its west is above its east. */
function boxAround(rectangles: readonly Rectangle[]): number[] {
  const boxes = rectangles.map(({ coordinates }) => boxOfPositions(coordinates.flat()));
  const south = boxes.reduce((least, box) => Math.min(least, box.south), 90);
  const north = boxes.reduce((most, box) => Math.max(most, box.north), -90);
  const eastwards = boxes.sort((one, other) => one.west - other.west);
  const easternmost = boxes.reduce((most, { east }) => Math.max(most, east), -180);
  let { west = -180, east: reached = 180 } = eastwards[0] ?? {};
  let east = easternmost;
  // The box is all but the widest gap between neighbours, of which one is across the antimeridian.
  let widest = west + 360 - easternmost;
  for (const box of eastwards) {
    if (box.west - reached > widest) [widest, west, east] = [box.west - reached, box.west, reached];
    reached = Math.max(reached, box.east);
  }
  return [west, south, east, north];
}
