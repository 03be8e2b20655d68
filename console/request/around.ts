/** How `npm start` is told to cover the ground of a request. */
import type { Area } from "../data/area.ts";
import { boxOfRing, positionOf } from "../data/outlines.ts";

/** A larger box may have more cells than the demo covers. */
const mostDegrees = 0.25;

/**
 * The option of `npm start` that covers areas: by a name, or else as the box of a single small one.
 * @param name of the city that was chosen; undefined for other areas
 */
export function aroundOption(areas: readonly Area[], name: string | undefined): string {
  // Shells read these in quotes.
  if (name !== undefined && !/["$`\\!]/.test(name)) return `--around "${name}"`;
  const points = areas.length === 1 ? (areas[0]?.boundary ?? []) : [];
  const { west, south, east, north } = boxOfRing(points.map(positionOf));
  // Neither without points, nor across the antimeridian.
  const isSmall = east - west <= mostDegrees && north - south <= mostDegrees;
  if (points.length === 0 || !isSmall) return "--around PLACE";
  // After a space, a number below 0 would be read as another option.
  return `--around=${[west, south, east, north].join()}`;
}
