import type { FormatChoices } from "../query/bytes.ts";
import { geoJsonOf } from "./geojson.ts";
import type { BodyWriter } from "./json.ts";
import { csvOf, csvWithPointsOf, csvWithWktOf, hourlyGeoJsonOf, ndjsonOf } from "./line-formats.ts";

/** The formats of an answer besides JSON, by media type. Loaded for a request that prefers one of them. */
export const formats = {
  "application/geo+json": {
    contentType: "application/geo+json",
    writerOf: ({ featuresPer = "CELL" }) => ({ CELL: geoJsonOf, HOUR: hourlyGeoJsonOf })[featuresPer],
  },
  "text/csv": {
    contentType: "text/csv; charset=utf-8; header=present",
    writerOf: ({ geometry }) =>
      geometry === undefined ? csvOf : { POINT: csvWithPointsOf, WKT: csvWithWktOf }[geometry],
  },
  "application/x-ndjson": { contentType: "application/x-ndjson", writerOf: () => ndjsonOf },
} as const satisfies Record<string, Format>;

interface Format {
  readonly contentType: string;
  readonly writerOf: (choices: FormatChoices) => BodyWriter;
}
