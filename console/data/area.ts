/** The area of a request: a polygon that was chosen, drawn or pasted. */
import { countCells } from "../../functions/population-density/cover/cover.ts";
import { type Point, polygonOf } from "../../functions/population-density/cover/polygon.ts";

export type { Point };

/** An area in the API's format. */
export interface Area {
  readonly areaType: "POLYGON";
  readonly boundary: readonly Point[];
}

/** Limits of a polygon (`GET …/capabilities`). */
export interface AreaLimits {
  readonly minPoints: number;
  readonly maxPoints: number;
}

/** A box in degrees. It crosses the antimeridian if `west` is greater than `east`. */
export interface Box {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

/** The area with the given corners, rounded to about 10 cm. */
export function areaOf(points: readonly Point[]): Area {
  return {
    areaType: "POLYGON",
    boundary: points.map(({ latitude, longitude }) => ({
      latitude: rounded(latitude),
      longitude: rounded(longitude),
    })),
  };
}

/** The rectangle of a box; undefined for a box without height, or as wide as half of the world or wider. */
export function boxArea({ west, south, east, north }: Box): Area | undefined {
  const width = east < west ? east - west + 360 : east - west;
  // An edge of 180 degrees or more would run the other way around the world.
  if (width <= 0 || width >= 180 || north <= south) return undefined;
  return areaOf([
    { latitude: south, longitude: west },
    { latitude: south, longitude: east },
    { latitude: north, longitude: east },
    { latitude: north, longitude: west },
  ]);
}

/** Whether an area has the same corners as another one, in the same order. */
export function isSameArea({ boundary }: Area, other: Area | undefined): boolean {
  return JSON.stringify(boundary) === JSON.stringify(other?.boundary);
}

/** Whether points may be degrees of longitude and latitude. */
export function areDegrees(points: readonly Point[]): boolean {
  return points.every(({ latitude, longitude }) => Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180);
}

/** Whether the coordinates of one point look like metres of a map projection: one is 1,000 or more. */
export function areMetres(pair: readonly number[]): boolean {
  return pair.some((value) => Math.abs(value) >= 1_000);
}

/** The sentence about coordinates that are no degrees. @param pair those of one point, as they were given */
export function noDegrees(pair: readonly number[]): string {
  const numbers = pair.map((value) => String(Number(value.toPrecision(9)))).join(" and ");
  const reason = areMetres(pair)
    ? "look like metres of a map projection"
    : "are outside of longitude ±180, latitude ±90";
  return `Coordinates have to be degrees of longitude and latitude (WGS 84, EPSG:4326): ${numbers} ${reason}.`;
}

/** The sentence about coordinates of another system than WGS 84. @param system its name, such as `SRID 2154` */
export function notWgs84(system: string): string {
  return `The coordinates are of ${system}. Only those of WGS 84 (EPSG:4326) can be read.`;
}

function rounded(degrees: number): number {
  // Adding 0 makes 0 of -0.
  return Math.round(degrees * 1e6) / 1e6 + 0;
}

/** Why the API would refuse an area; undefined if it would accept it. */
export function areaProblem({ boundary }: Area, { minPoints, maxPoints }: AreaLimits): string | undefined {
  if (boundary.length < minPoints) return `A polygon needs at least ${minPoints} points.`;
  if (boundary.length > maxPoints) {
    return `The polygon has ${boundary.length} points; at most ${maxPoints} are allowed.`;
  }
  if (!areDegrees(boundary)) {
    return "A point is outside of latitude ±90, longitude ±180.";
  }
  if (polygonOf(boundary) === undefined) return "The edges must enclose an area, and must not meet.";
  return undefined;
}

/** The number of cells in the answer for an area; 0 for an invalid area. */
export function cellCount({ boundary }: Area, precision: number): number {
  const polygon = polygonOf(boundary);
  return polygon === undefined ? 0 : countCells(polygon, precision);
}

/** The latitude halfway between the southernmost and the northernmost corner. */
export function middleLatitude({ boundary }: Area): number {
  const latitudes = boundary.map(({ latitude }) => latitude);
  return (Math.min(...latitudes) + Math.max(...latitudes)) / 2;
}
