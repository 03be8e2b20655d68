/** What the ground of a request is called, in headings and in names of files. */
import { polygonOf } from "../../functions/population-density/cover/polygon.ts";
import { plain } from "../../shared/place-names.ts";
import type { Area } from "../data/area.ts";
import { boxOfRing, cornersOf, within180 } from "../data/outlines.ts";
import { type City, nameFor } from "../data/regions.ts";
import { districtOf } from "./examples.ts";

/**
 * The name of an area: of the demo's district that it is, of its largest city, `near` the nearest one, or else the
 * latitude and the longitude of its middle.
 * @param cities those that the page knows by now
 */
export function placeName(area: Area, cities: readonly City[]): string {
  const polygon = polygonOf(area.boundary);
  if (polygon === undefined) return "Own area";
  const ring = cornersOf(polygon);
  const { west, south, east, north } = boxOfRing(ring);
  const [latitude, longitude] = [(south + north) / 2, (west + east) / 2];
  // An area across the antimeridian goes on beyond 180 degrees.
  const around = cities.map((city) => ({
    ...city,
    longitude: city.longitude + 360 * Math.round((longitude - city.longitude) / 360),
  }));
  return districtOf(area) ?? nameFor([ring], around) ?? positionText(latitude, longitude);
}

/** The name of several areas together: the first one, and how many others there are. */
export function placesName(areas: readonly Area[], cities: readonly City[]): string {
  const [first = "", ...others] = new Set(areas.map((area) => placeName(area, cities)));
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}

/** What a file has of a place: its precision, and its period or, of a picture, the hour on view. */
interface FileContent {
  readonly from: Date;
  /** Absent for a single hour. */
  readonly hours?: number;
  readonly precision: number;
}

/**
 * The name of a file: `densities-centre-of-lyon-2026-11-28T10Z-24h-precision-6.csv`, with the start in UTC.
 * @param ending `.csv`, or with what tells files of the same format apart: `-by-hour.geojson`
 */
export function fileName(place: string, { from, hours, precision }: FileContent, ending: string): string {
  const decimals = place.split(/(?<=\d)\.(?=\d)/).map((part) => plain(part).replaceAll(" ", "-"));
  const start = `${from.toISOString().slice(0, 13)}Z`;
  const period = hours === undefined ? start : `${start}-${hours}h`;
  return `densities-${decimals.join(".")}-${period}-precision-${precision}${ending}`;
}

/** `45.76 N 4.83 E`. */
function positionText(latitude: number, longitude: number): string {
  const text = (degrees: number, [positive, negative]: readonly [string, string]) =>
    `${Math.abs(degrees).toFixed(2)} ${degrees < 0 ? negative : positive}`;
  return `${text(latitude, ["N", "S"])} ${text(within180(longitude), ["E", "W"])}`;
}
