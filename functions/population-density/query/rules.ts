import { instantOf } from "../../../shared/calendar.ts";
import { countCells } from "../cover/cover.ts";
import { type Polygon, polygonOf } from "../cover/polygon.ts";
import { type AskedHour, askedHours, brokenTimeRule, hoursOf, storedDaysOf } from "./intervals.ts";
import { maxTileDays } from "./limits.ts";

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
export function parseQuery(
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
  const exceeded = limitExceededBy(query, limits, hasSink);
  if (exceeded === undefined) return undefined;
  const finest = precisions
    .filter((precision) => precision < query.precision)
    .findLast((precision) => limitExceededBy({ ...query, precision }, limits, hasSink) === undefined);
  const advice =
    finest === undefined
      ? "No coarser supported precision fits."
      : `The finest supported precision that fits is ${finest}.`;
  return { code: `POPULATION_DENSITY_DATA.${exceeded.code}`, message: `${exceeded.message} ${advice}` };
}

/** The limit that a query exceeds. */
interface LimitExceeded {
  readonly code: "UNSUPPORTED_REQUEST" | "UNSUPPORTED_SYNC_RESPONSE";
  readonly message: string;
}

/** The first limit that a query exceeds: those that hold with a sink too come first. */
function limitExceededBy(
  query: DensityQuery,
  { syncLimit, asyncLimit }: ServiceLimits,
  hasSink: boolean,
): LimitExceeded | undefined {
  const sizes = [
    { ...slotsOf(query, Math.max(syncLimit, asyncLimit)), sync: syncLimit, async: asyncLimit },
    { ...tileDaysOf(query, maxTileDays.async), ...maxTileDays },
  ];
  const beyondAsync = sizes.find(({ size, async }) => size > async);
  if (beyondAsync !== undefined) {
    const message = sizeMessage(beyondAsync, `with a sink is ${beyondAsync.async}`);
    return { code: "UNSUPPORTED_REQUEST", message };
  }
  const beyondSync = hasSink ? undefined : sizes.find(({ size, sync }) => size > sync);
  if (beyondSync === undefined) return undefined;
  const message = sizeMessage(beyondSync, `without a sink is ${beyondSync.sync}`);
  return { code: "UNSUPPORTED_SYNC_RESPONSE", message };
}

/** How much a query asks for. */
interface Size {
  readonly unit: string;
  readonly size: number;
  /** Whether the size is this, not more. */
  readonly isExact: boolean;
}

function sizeMessage({ unit, size, isExact }: Size, limit: string): string {
  return `${unit} are ${isExact ? "" : "at least "}${size}, the limit ${limit}.`;
}

/** The stored items that an answer is made from; exact up to a limit. */
function tileDaysOf({ polygon, precision, asked }: DensityQuery, limit: number): Size {
  const { weekdays, dates } = storedDaysOf(asked);
  const days = weekdays.length + dates.length;
  const maxTiles = Math.floor(limit / days);
  // The tiles of a precision are the cells of the one that is two characters shorter.
  const tiles = precision < 3 ? 1 : countCells(polygon, precision - 2, maxTiles);
  return { unit: "Tiles × days", size: tiles * days, isExact: tiles <= maxTiles };
}

const tileDaysPerUnit = 10;

/**
 * What a supported query costs of the daily quota besides the 1 of every request: one for every ten stored items that
 * its answer is made from, rounded down.
 */
export function workUnitsOf(query: DensityQuery): number {
  return Math.floor(tileDaysOf(query, maxTileDays.async).size / tileDaysPerUnit);
}

/** The cells and hours of a query's answer; counts cells without listing them. */
export function sizeOf({ polygon, precision, asked }: DensityQuery): {
  readonly cells: number;
  readonly intervals: number;
} {
  return { cells: countCells(polygon, precision, Number.MAX_SAFE_INTEGER), intervals: asked.length };
}

/**
 * Whether an answer is so large that its caller can keep an execution busy by reading it slowly. That a connection
 * takes smaller ones at once is assumed (docs/decisions/0041). Its bytes are counted as if every cell had an estimate.
 */
export function isLarge(
  { polygon, precision, asked }: DensityQuery,
  format: keyof typeof typicalBytes,
): boolean {
  const { cell, slot } = typicalBytes[format];
  const maxCells = Math.floor(maxSmallBytes / (cell + slot * asked.length));
  return countCells(polygon, precision, maxCells) > maxCells;
}

const maxSmallBytes = 200_000;

/** What each cell and each slot adds to an answer that is not compressed; the demo city's, at precision 7. */
const typicalBytes = {
  "application/json": { cell: 0, slot: 115 },
  "application/geo+json": { cell: 430, slot: 37 },
  "text/csv": { cell: 0, slot: 85 },
  "application/x-ndjson": { cell: 0, slot: 180 },
} as const;

/** The slots that a query asks for; exact as far as it matters to compare them with a limit. */
function slotsOf({ polygon, precision, asked }: DensityQuery, limit: number): Size {
  const maxCells = Math.max(Math.floor(limit / asked.length), maxCounted);
  const cells = countCells(polygon, precision, maxCells);
  return { unit: "Cells × hours", size: cells * asked.length, isExact: cells <= maxCells };
}

/** Up to this number, cells are counted exactly for the error message; counting more would take too long. */
const maxCounted = 1_000_000;
