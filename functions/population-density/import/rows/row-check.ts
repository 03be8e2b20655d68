import { hourMilliseconds, instantOf, lackOf } from "../../../../shared/calendar.ts";
import { suffixesOf } from "../../cover/geohash.ts";
import type { Range } from "../../privacy/market-share.ts";

/** The columns of a file of counted people. */
export const columns = ["geohash", "startTime", "people", "minPeople", "maxPeople"] as const;

/** The name of a column. */
export type Column = (typeof columns)[number];

/** Whether a file may have a column of this name. */
export function isColumn(name: string): boolean {
  return columns.some((column) => column === name);
}

/** A name that a file gives to a column, as a problem tells it: as JSON, and not longer than names are. */
export function shownName(name: string): string {
  return JSON.stringify(name.length > 40 ? `${name.slice(0, 40)}…` : name);
}

/** The fields of a line before they are checked; undefined for absent ones. */
export type Fields = { readonly [column in Column]: unknown } & {
  /** Counted from 0 from where the lines begin. */
  readonly line: number;
};

/** Why a line is refused, without a value of it. */
export interface LineProblem {
  readonly line: number;
  /** How many lines are refused for the same, of which this is the first; 1 if absent. */
  readonly count?: number | undefined;
  readonly column?: Column | undefined;
  readonly reason: string;
}

/** The last two characters of a geohash as numbers. */
const cells: ReadonlyMap<string, number> = new Map(suffixesOf(2).map((suffix, cell) => [suffix, cell]));

const geohashes = /^[0-9b-hjkmnp-z]{2,12}$/;
const endOfDates = Date.UTC(10_000, 0);

/** The maximum of people in a cell. */
export const maxPeople = 1e9;
const notPeople = `must be a number from 0 to ${maxPeople}`;

/** The most times that are remembered: a year has fewer. */
const maxHours = 10_000;

/** A row whose fields are valid. */
export interface CheckedRow extends Range {
  readonly tile: string;
  readonly cell: number;
  readonly hour: number;
}

/** Checks rows one by one. */
export class RowCheck {
  /** How long geohashes must be; until it is set, the first one determines it. */
  precision: number | undefined;
  /** The hours of times that were read before: the same ones come again and again. */
  readonly #hours = new Map<string, number>();

  /** @param refuse called for each field that is refused. */
  rowOf(fields: Fields, refuse: (problem: LineProblem) => void): CheckedRow | undefined {
    const refuseField: Refuse = (column, value, reason) =>
      refuse({ line: fields.line, column, reason: value === undefined ? "is missing" : reason });
    const geohash = this.#geohashOf(fields, refuseField);
    const hour = this.#hourOf(fields, refuseField);
    const range = rangeOf(fields, refuseField);
    if (geohash === undefined || hour === undefined || range === undefined) return undefined;
    return { ...range, tile: geohash.slice(0, -2), cell: cells.get(geohash.slice(-2)) ?? 0, hour };
  }

  /** @returns the hour that begins then in UTC, counted from 1970; or why it is refused. */
  hourAt(text: string): number | string {
    const known = this.#hours.get(text);
    if (known !== undefined) return known;
    const instant = instantOf(asRfc3339(text));
    if (instant === undefined) return lackOf(text) ?? "must be an RFC 3339 date-time with a zone";
    const hour = instant.milliseconds / hourMilliseconds;
    if (!Number.isInteger(hour) || instant.digits !== "") return "must be on the hour in UTC";
    if (instant.milliseconds < 0 || instant.milliseconds >= endOfDates) return "must be from 1970 to 9999";
    if (this.#hours.size === maxHours) this.#hours.clear();
    this.#hours.set(text, hour);
    return hour;
  }

  #geohashOf({ geohash }: Fields, refuse: Refuse): string | undefined {
    if (typeof geohash !== "string" || !geohashes.test(geohash)) {
      refuse("geohash", geohash, "must be a geohash of 2 to 12 characters in lower case");
      return undefined;
    }
    this.precision ??= geohash.length;
    if (geohash.length === this.precision) return geohash;
    refuse("geohash", geohash, otherPrecision(this.precision));
    return undefined;
  }

  #hourOf({ startTime }: Fields, refuse: Refuse): number | undefined {
    const hour = this.hourAt(typeof startTime === "string" ? startTime : "");
    if (typeof hour === "number") return hour;
    refuse("startTime", startTime, hour);
    return undefined;
  }
}

/** Why a geohash of another length than the first one is refused. */
function otherPrecision(first: number): string {
  return `must have ${first} characters like the ones before`;
}

/** As pandas, DuckDB and PostgreSQL write times: `2026-11-20 10:00:00+00:00`, or `+00`. */
const spacedTime = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2}(?:\.\d+)?)(?:([Zz])|([+-]\d{2})(?::?(\d{2}))?)$/;

function asRfc3339(text: string): string {
  const [all, date, time, utc, hours, minutes = "00"] = spacedTime.exec(text) ?? [];
  return all === undefined ? text : `${date}T${time}${utc ?? `${hours}:${minutes}`}`;
}

type Refuse = (column: Column, value: unknown, reason: string) => void;

function rangeOf({ people, minPeople, maxPeople }: Fields, refuse: Refuse): Range | undefined {
  if (!isPeople(people)) refuse("people", people, notPeople);
  else if (minPeople === undefined && maxPeople === undefined) {
    return { people, min: people, max: people };
  } else if (!isPeople(minPeople)) refuse("minPeople", minPeople, notPeople);
  else if (!isPeople(maxPeople)) refuse("maxPeople", maxPeople, notPeople);
  else if (minPeople > people) refuse("minPeople", minPeople, "is above people");
  else if (maxPeople < people) refuse("maxPeople", maxPeople, "is below people");
  else return { people, min: minPeople, max: maxPeople };
  return undefined;
}

function isPeople(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= maxPeople;
}
