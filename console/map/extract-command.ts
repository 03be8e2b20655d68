/** How one gets a map with streets. */
import type { Box } from "../data/area.ts";

/**
 * The command that makes a map of a box, in the scheme that the page draws, of a planet that Protomaps builds each day
 * and keeps for a week. @param box may go beyond 180 degrees, as the view of a map does
 */
export function extractCommand({ west, south, east, north }: Box, now: Date): string {
  const dayMilliseconds = 24 * 60 * 60 * 1_000;
  const build = new Date(now.getTime() - 2 * dayMilliseconds).toISOString().slice(0, 10).replaceAll("-", "");
  const outwards = (degrees: number, round: (value: number) => number) => round(degrees * 10) / 10;
  const bbox = [
    Math.max(-180, outwards(west, Math.floor)),
    outwards(south, Math.floor),
    Math.min(180, outwards(east, Math.ceil)),
    outwards(north, Math.ceil),
  ];
  return `pmtiles extract https://build.protomaps.com/${build}.pmtiles map.pmtiles --bbox=${bbox.join()}`;
}
