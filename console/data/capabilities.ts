import type { AreaLimits } from "./area.ts";

/** What is covered: a MultiPolygon of GeoJSON. */
export interface Coverage {
  /** West, south, east and north. */
  readonly bbox: readonly number[];
  readonly coordinates: readonly (readonly (readonly (readonly number[])[])[])[];
}

/** How far the typical hours of a precision were from what was observed afterwards. */
export interface ForecastQuality {
  readonly precision: number;
  /** Observed days that were compared. */
  readonly days: number;
  /** Weighted absolute percentage error, as a fraction; absent if nobody was observed. */
  readonly wape?: number;
  /** The share of cells and hours whose observed density was in the range of the typical one. */
  readonly withinRange: number;
  /** Boxes around the cells that were compared: west, south, east and north. Absent if none was recorded. */
  readonly regions?: readonly (readonly number[])[];
}

/** The week that typical hours are taken from. */
export interface TypicalWeek {
  readonly timeZone: string;
  /** Dates that count as Sundays. */
  readonly holidays: readonly string[];
}

/** What the operator's import found unusual about an observed day. */
export interface DayQuality {
  /** UTC. */
  readonly day: string;
  readonly findings: readonly {
    readonly code: string;
    /** Hours of the day, UTC. */
    readonly hours: readonly number[];
    readonly description: string;
  }[];
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
  readonly typicalWeek: TypicalWeek;
  /** By precision; empty until an observed day was compared. */
  readonly forecastQuality: readonly ForecastQuality[];
  /** What was found in the latest observed days. */
  readonly quality: readonly DayQuality[];
  readonly provenance: readonly { readonly source: string; readonly licence?: string }[];
}
