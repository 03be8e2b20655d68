import { instantOf } from "../../../shared/calendar.ts";
import { type Polygon, polygonOf } from "../cover/polygon.ts";
import { type AskedHour, askedHours, brokenTimeRule, hoursOf } from "./intervals.ts";

/** The members of a request's body that make a query; its schema has checked them. */
interface RequestedDensity {
  readonly area: { readonly boundary: Parameters<typeof polygonOf>[0] };
  /** RFC 3339 with a zone. */
  readonly startTime: string;
  /** RFC 3339 with a zone. */
  readonly endTime: string;
  readonly precision: number;
}

/** A valid request: area, period and precision. */
export interface DensityQuery {
  readonly polygon: Polygon;
  /** In their order, with the days that have data for them. */
  readonly asked: readonly AskedHour[];
  /** Length of the geohashes. */
  readonly precision: number;
}

/** The codes with which the rules of this file refuse a request. */
type Refused =
  | "INVALID_ARGUMENT"
  | `POPULATION_DENSITY_DATA.${
      | "INVALID_AREA"
      | "UNSUPPORTED_PRECISION"
      | "UNSUPPORTED_REQUEST"
      | "UNSUPPORTED_SYNC_RESPONSE"
      | Exclude<ReturnType<typeof brokenTimeRule>, "INVALID_ARGUMENT" | undefined>}`;

/** An error of the catalogue, with a more precise message if there is one. */
export interface Fault {
  readonly code: Refused;
  readonly message?: string;
}

/** Parses a request into a query. Returns a fault for an invalid area or period (behaviour sections 3 and 7). */
export function parseDensityRequest(
  { area, startTime, endTime, precision }: RequestedDensity,
  now: Date,
): DensityQuery | Fault {
  const polygon = polygonOf(area.boundary);
  if (polygon === undefined) return { code: "POPULATION_DENSITY_DATA.INVALID_AREA" };
  const [start, end] = [instantOf(startTime), instantOf(endTime)];
  if (start === undefined || end === undefined) throw new TypeError("a period that its schema refuses");
  const broken = brokenTimeRule(start, end, now);
  if (broken === "INVALID_ARGUMENT")
    return { code: broken, message: "The endTime is more than 3 months ahead." };
  if (broken !== undefined) return { code: `POPULATION_DENSITY_DATA.${broken}` };
  return { polygon, asked: askedHours(hoursOf(start, end), now), precision };
}
