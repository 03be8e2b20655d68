import { nextHour } from "../../console/base/time.ts";
import { boxArea } from "../../console/data/area.ts";
import { writeAddress } from "../../console/request/address.ts";
import type { Box } from "../../functions/population-density/cover/box.ts";
import { parseDensityRequest } from "../../functions/population-density/query/parse.ts";
import { type ServiceLimits, supportedSize } from "../../functions/population-density/query/supported.ts";
import { hourMilliseconds } from "../../shared/calendar.ts";
import type { ImportedExtent } from "../import/density/extent.ts";

/**
 * The address at which the map shows what was imported, as finely as one answer can have it.
 * @param page the address of the service, without a slash at its end.
 * @returns undefined if the API answers no request for it: its days are too long ago, or still to come.
 */
export function addressOfImport(
  page: string,
  extent: ImportedExtent,
  limits: ServiceLimits,
  now: Date,
): string | undefined {
  const area = boxArea(within(extent.box));
  const period = periodOf(extent, now);
  if (area === undefined || period === undefined) return undefined;
  const { from } = period;
  const precisions = limits.precisions.filter((precision) => precision <= extent.precision);
  for (const hours of [period.hours, 1]) {
    const endTime = new Date(from.getTime() + hours * hourMilliseconds).toISOString();
    const precision = precisions.findLast((precision) => {
      const query = parseDensityRequest({ area, startTime: from.toISOString(), endTime, precision }, now);
      return !("code" in query) && !("code" in supportedSize(query, limits, false));
    });
    if (precision !== undefined) return `${page}/${writeAddress({ areas: [area], from, hours, precision })}`;
  }
  return undefined;
}

/** A degree's millionth smaller on each side: an edge that is rounded outwards shares area with cells beyond it. */
function within({ west, south, east, north }: Box): Box {
  const margin = 1e-6;
  return { west: west + margin, south: south + margin, east: east - margin, north: north - margin };
}

interface Period {
  readonly from: Date;
  readonly hours: number;
}

/** Typical hours are shown as those that come next, observed ones as far as they are over. */
function periodOf({ isTypical, newest }: ImportedExtent, now: Date): Period | undefined {
  const next = nextHour(now);
  if (newest === undefined) return { from: next, hours: 24 };
  const start = newest.start.getTime();
  if (!isTypical) {
    const hours = Math.min(newest.hours, Math.floor((now.getTime() - start) / hourMilliseconds));
    return hours < 1 ? undefined : { from: newest.start, hours };
  }
  const week = 7 * 24 * hourMilliseconds;
  return { from: new Date(start + Math.ceil((next.getTime() - start) / week) * week), hours: newest.hours };
}
