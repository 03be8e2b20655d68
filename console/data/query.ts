import { afterHours, serviceTime } from "../base/time.ts";
import type { Area } from "./area.ts";

/** What the form asks for: one request of the API for each area. */
export interface Query {
  readonly areas: readonly Area[];
  /** Start of the period: a whole hour. */
  readonly from: Date;
  readonly hours: number;
  readonly precision: number;
  /** What people call its areas. */
  readonly name?: string;
}

/** The path of the operation that returns densities. */
export const retrievalPath = "populationdensitydata/retrieve";

/** The body of a request for densities. */
export interface DensityRequest {
  readonly area: Area;
  readonly startTime: string;
  readonly endTime: string;
  readonly precision: number;
}

/**
 * The requests of a query, one for each of its areas. A period of no length is the hour that begins there: so the API
 * takes one that has begun and not ended.
 */
export function requestsOf(
  { areas, from, hours, precision }: Query,
  now = serviceTime(),
): readonly DensityRequest[] {
  const end = afterHours(from, hours);
  const isNow = hours === 1 && from <= now && now < end;
  const [startTime, endTime] = [from.toISOString(), (isNow ? from : end).toISOString()];
  return areas.map((area) => ({ area, startTime, endTime, precision }));
}
