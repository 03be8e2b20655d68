import type { AreaLimits } from "./area.ts";

/** What is covered: a MultiPolygon of GeoJSON. */
export interface Coverage {
  /** West, south, east and north. */
  readonly bbox: readonly number[];
  readonly coordinates: readonly (readonly (readonly (readonly number[])[])[])[];
}

/** The API's capabilities (`GET /populationdensitydata/capabilities`). */
export interface Capabilities {
  readonly precisions: readonly number[];
  readonly area: AreaLimits;
  readonly period: { readonly maxHours: number; readonly monthsBack: number; readonly monthsAhead: number };
  readonly limits: {
    readonly synchronous: { readonly slots: number };
    readonly asynchronous: { readonly slots: number };
  };
  readonly suppressionThreshold: number;
  /** Absent before the first import. */
  readonly coverage?: Coverage;
  readonly newestObservedDay?: string;
  readonly provenance: readonly { readonly source: string; readonly licence?: string }[];
}
