import { geoJsonOf } from "./geojson.ts";
import type { BodyWriter } from "./json.ts";
import { csvOf, ndjsonOf } from "./line-formats.ts";

/** The formats of an answer besides JSON, by media type. Loaded for a request that prefers one of them. */
export const formats = {
  "application/geo+json": { contentType: "application/geo+json", bodyOf: geoJsonOf },
  "text/csv": { contentType: "text/csv; charset=utf-8; header=present", bodyOf: csvOf },
  "application/x-ndjson": { contentType: "application/x-ndjson", bodyOf: ndjsonOf },
} as const satisfies Record<string, { readonly contentType: string; readonly bodyOf: BodyWriter }>;
