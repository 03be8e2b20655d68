/** How `npm start` is told to cover the ground of a request. */
import type { Area } from "../data/area.ts";

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
  const [longitudes, latitudes] = [points.map((p) => p.longitude), points.map((p) => p.latitude)];
  const [west, south] = [Math.min(...longitudes), Math.min(...latitudes)];
  const [east, north] = [Math.max(...longitudes), Math.max(...latitudes)];
  // Neither without points, nor across the antimeridian.
  const isSmall = east - west <= mostDegrees && north - south <= mostDegrees;
  if (points.length === 0 || !isSmall) return "--around PLACE";
  // After a space, a number below 0 would be read as another option.
  return `--around=${[west, south, east, north].join()}`;
}
