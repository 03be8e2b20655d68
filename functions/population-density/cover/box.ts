import { cellOf, gridOf } from "./geohash.ts";

/** In degrees; a west above the east is a box across the antimeridian. */
export interface Box {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

/** The box of a geohash, exact; the whole globe for `""`. */
export function boxOf(geohash: string): Box {
  const { cellHeight, cellWidth } = gridOf(geohash.length);
  const { row, column } = cellOf(geohash);
  const [west, south] = [column * cellWidth - 180, row * cellHeight - 90];
  return { west, south, east: west + cellWidth, north: south + cellHeight };
}

/** The smallest box around two: the shorter way around the globe. */
export function boxAround(one: Box, other: Box): Box {
  const south = Math.min(one.south, other.south);
  const north = Math.max(one.north, other.north);
  const longitudes = [
    { west: one.west, east: one.east },
    { west: other.west, east: other.east },
    { west: one.west, east: other.east },
    { west: other.west, east: one.east },
    { west: -180, east: 180 },
  ];
  const boxes = longitudes.map(({ west, east }) => ({ west, south, east, north }));
  return boxes
    .filter((box) => isWithin(one, box) && isWithin(other, box))
    .reduce((narrowest, box) => (widthOf(box) < widthOf(narrowest) ? box : narrowest));
}

/** Whether the inner box lies in the outer one. */
export function isWithin(inner: Box, outer: Box): boolean {
  if (inner.south < outer.south || inner.north > outer.north) return false;
  const width = widthOf(outer);
  return width === 360 || eastwards(outer.west, inner.west) + widthOf(inner) <= width;
}

/** Degrees of longitude, above 0 and at most 360. */
function widthOf({ west, east }: Box): number {
  return eastwards(west, east) || 360;
}

/** From one longitude to another: from 0 to less than 360 degrees. */
function eastwards(from: number, to: number): number {
  return (to - from + 720) % 360;
}
