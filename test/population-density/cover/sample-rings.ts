import type { Point } from "../../../functions/population-density/cover/polygon.ts";

export type Coordinates = readonly [latitude: number, longitude: number];

/** Coordinates are rounded to this many degrees. */
export const unit = 2 ** -40;

/** A boundary of these points, open or closed as written. */
export function ring(...points: readonly Coordinates[]): Point[] {
  return points.map(([latitude, longitude]) => ({ latitude, longitude }));
}

/** A boundary written as its points: `latitude longitude, …`. */
export const ringOf = (points: string): Point[] =>
  points.split(", ").map((point) => {
    const [latitude = Number.NaN, longitude = Number.NaN] = point.split(" ").map(Number);
    return { latitude, longitude };
  });
