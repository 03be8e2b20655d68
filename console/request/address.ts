/**
 * The fragment of the page's address: the request and the hour on view. Other programs may write such addresses, so the
 * format is documented (`docs/console.md`):
 *
 *     #area=4.81,45.73,4.87,45.78&from=2026-11-23T10:00Z&hours=24&precision=6&hour=2026-11-23T14:00Z&scale=own&view=3d
 *
 * An area is `longitude,latitude` pairs; two pairs are the corners of a box. Areas are separated by semicolons. Times
 * are whole hours in UTC. Each member may be missing.
 */
import { type Area, areaOf, boxArea, type Point } from "../data/area.ts";
import type { ScaleName } from "../data/scale.ts";

/** What an address may name. */
export interface ViewState {
  readonly areas?: readonly Area[];
  /** Start of the period: a whole hour. */
  readonly from?: Date;
  readonly hours?: number;
  readonly precision?: number;
  /** What the areas are called. */
  readonly name?: string;
  /** Start of the hour on view. */
  readonly hour?: Date;
  /** The scale of colours. */
  readonly scale?: ScaleName;
  /** Whether cells are columns on a tilted map. */
  readonly isTilted?: boolean;
}

/** The longest name of areas. */
export const maxNameLength = 100;

const scales: ReadonlyMap<string, ScaleName> = new Map([
  ["own", "This answer"],
  ["all", "All answers"],
]);

/** Formats the fragment of an address, with its `#`. */
export function writeAddress(state: ViewState): string {
  const { areas, from, hours, precision, name, hour, scale, isTilted = false } = state;
  const members = {
    area: areas?.map(areaText).join(";"),
    from: from && timeText(from),
    hours,
    precision,
    name: name && encodeURIComponent(name),
    hour: hour && timeText(hour),
    scale: [...scales].find(([, one]) => one === scale)?.[0],
    view: isTilted ? "3d" : undefined,
  };
  const written = Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}=${value}`,
  );
  return `#${written.join("&")}`;
}

/**
 * Parses the fragment of an address.
 * @returns the members that it names, and the names of those that cannot be read.
 */
export function readAddress(fragment: string): {
  readonly state: ViewState;
  readonly unread: readonly string[];
} {
  let state: ViewState = {};
  const unread: string[] = [];
  for (const member of fragment.replace(/^#/, "").split("&")) {
    if (member === "") continue;
    const [name = "", ...rest] = member.split("=");
    const read = memberOf(name, decoded(rest.join("=")));
    if (read === undefined) unread.push(name);
    else state = { ...state, ...read };
  }
  return { state, unread };
}

/** Some programs escape commas and semicolons in links. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return "";
    throw error;
  }
}

/** Parses one member; undefined if its name or value is unknown. */
function memberOf(name: string, text: string): ViewState | undefined {
  switch (name) {
    case "area": {
      const areas = parseAreas(text);
      return areas && { areas };
    }
    case "from":
    case "hour": {
      const start = parseHour(text);
      return start && { [name]: start };
    }
    case "hours":
    case "precision":
      return /^[1-9]\d{0,3}$/.test(text) ? { [name]: Number(text) } : undefined;
    case "name":
      return text.trim() === "" || text.length > maxNameLength ? undefined : { name: text };
    case "scale": {
      const scale = scales.get(text);
      return scale && { scale };
    }
    case "view":
      return text === "3d" ? { isTilted: true } : undefined;
    default:
      return undefined;
  }
}

function areaText({ boundary }: Area): string {
  return boundary.map(({ longitude, latitude }) => `${longitude},${latitude}`).join(",");
}

/** `2026-11-23T10:00Z`. */
function timeText(moment: Date): string {
  return `${moment.toISOString().slice(0, 16)}Z`;
}

/** Parses a whole hour in UTC. */
function parseHour(text: string): Date | undefined {
  const moment = new Date(/^\d{4}-\d\d-\d\dT\d\d:00(?::00(?:\.000)?)?Z$/.test(text) ? text : Number.NaN);
  // A 30th of February would be taken for a day of March.
  return Number.isNaN(moment.getTime()) || timeText(moment).slice(0, 10) !== text.slice(0, 10)
    ? undefined
    : moment;
}

function parseAreas(text: string): readonly Area[] | undefined {
  const areas = text.split(";").map(parseArea);
  return areas.every((area) => area !== undefined) ? areas : undefined;
}

function parseArea(text: string): Area | undefined {
  const numbers = text.split(",").map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  if (!numbers.every(Number.isFinite) || numbers.length % 2 !== 0) return undefined;
  const [west = 0, south = 0, east = 0, north = 0] = numbers;
  if (numbers.length === 4) return boxArea({ west, south, east, north });
  const points = Array.from({ length: numbers.length / 2 }, (_, index): Point => {
    const [longitude = 0, latitude = 0] = numbers.slice(2 * index);
    return { longitude, latitude };
  });
  return points.length < 3 ? undefined : areaOf(points);
}
