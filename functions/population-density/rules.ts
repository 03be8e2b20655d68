import { instantOf } from "../../shared/calendar.ts";
import type { Retrieval } from "./contract.ts";
import { countCells } from "./cover/cover.ts";
import { type Polygon, polygonOf } from "./cover/polygon.ts";
import { brokenTimeRule, type Hours, hoursOf } from "./intervals.ts";

/** A valid request: area, period and precision. */
export interface DensityQuery {
  readonly polygon: Polygon;
  readonly hours: Hours;
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
export function parseQuery(
  { area, startTime, endTime, precision }: Pick<Retrieval, "area" | "startTime" | "endTime" | "precision">,
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
  return { polygon, hours: hoursOf(start, end), precision };
}

/** What a deployment supports. Limits are in slots: cells × hours. */
export interface ServiceLimits {
  /** Lengths of geohashes, ascending. */
  readonly precisions: readonly number[];
  readonly syncLimit: number;
  readonly asyncLimit: number;
}

/**
 * Checks precision and size of a query (specification 4.4). The fault's message names the finest coarser precision at
 * which the same query would be accepted. Counts cells without listing them.
 * @returns undefined for a query that is supported.
 */
export function unsupported(query: DensityQuery, limits: ServiceLimits, hasSink: boolean): Fault | undefined {
  const { precisions } = limits;
  if (!precisions.includes(query.precision)) {
    const message = `The precision is not supported. Supported are ${precisions.join(", ")}.`;
    return { code: "POPULATION_DENSITY_DATA.UNSUPPORTED_PRECISION", message };
  }
  const excess = limitExceededBy(query, limits, hasSink);
  if (excess === undefined) return undefined;
  const finest = precisions
    .filter((precision) => precision < query.precision)
    .findLast((precision) => limitExceededBy({ ...query, precision }, limits, hasSink) === undefined);
  const advice =
    finest === undefined
      ? "No coarser supported precision fits."
      : `The finest supported precision that fits is ${finest}.`;
  return { code: `POPULATION_DENSITY_DATA.${excess.code}`, message: `${excess.message} ${advice}` };
}

/** The limit that a query exceeds. */
interface LimitExceeded {
  readonly code: "UNSUPPORTED_REQUEST" | "UNSUPPORTED_SYNC_RESPONSE";
  readonly message: string;
}

function limitExceededBy(
  query: DensityQuery,
  { syncLimit, asyncLimit }: ServiceLimits,
  hasSink: boolean,
): LimitExceeded | undefined {
  const size = sizeOf(query, Math.max(syncLimit, asyncLimit));
  if (size.slots > asyncLimit) {
    return { code: "UNSUPPORTED_REQUEST", message: sizeMessage(size, asyncLimit, "with a sink") };
  }
  if (!hasSink && size.slots > syncLimit) {
    return { code: "UNSUPPORTED_SYNC_RESPONSE", message: sizeMessage(size, syncLimit, "without a sink") };
  }
  return tooWide(query, hasSink);
}

function sizeMessage({ slots, isExact }: Size, limit: number, mode: string): string {
  return `Cells × hours are ${isExact ? "" : "at least "}${slots}, the limit ${mode} is ${limit}.`;
}

/**
 * The maximum of tiles × days in one answer: all of their items are in memory together. A long narrow area has many.
 */
const maxTileDays = { sync: 1_300, async: 2_600 } as const;

const hoursPerDay = 24;

/** Checks the number of tiles: a long narrow area may have few cells in many tiles. */
function tooWide({ polygon, precision, hours }: DensityQuery, hasSink: boolean): LimitExceeded | undefined {
  const days =
    Math.floor((hours.first + hours.count - 1) / hoursPerDay) - Math.floor(hours.first / hoursPerDay) + 1;
  const maxTiles = Math.floor(maxTileDays[hasSink ? "async" : "sync"] / days);
  // The tiles of a precision are the cells of the one that is two characters shorter.
  if (precision < 3 || countCells(polygon, precision - 2, maxTiles) <= maxTiles) return undefined;
  const tooManyForAll =
    hasSink || countCells(polygon, precision - 2, maxTileDays.async) * days > maxTileDays.async;
  return {
    code: tooManyForAll ? "UNSUPPORTED_REQUEST" : "UNSUPPORTED_SYNC_RESPONSE",
    message: `The area is too long and narrow for ${days} ${days === 1 ? "day" : "days"} at this precision.`,
  };
}

interface Size {
  readonly slots: number;
  readonly isExact: boolean;
}

/** The size of a query in slots; exact as far as it matters to compare it with a limit. */
function sizeOf({ polygon, precision, hours }: DensityQuery, limit: number): Size {
  const maxCells = Math.max(Math.floor(limit / hours.count), maxCounted);
  const cells = countCells(polygon, precision, maxCells);
  return { slots: cells * hours.count, isExact: cells <= maxCells };
}

/** Up to this number, cells are counted exactly for the error message; counting more would take too long. */
const maxCounted = 1_000_000;
