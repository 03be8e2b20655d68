import fc from "fast-check";
import type { Point } from "../../../functions/population-density/cover/polygon.ts";

/** A boundary and the precision at which its box has few cells. Not every boundary is a polygon. */
export interface RingInGrid {
  readonly boundary: readonly Point[];
  readonly precision: number;
}

/** Where in the grid a ring is drawn: a column border and a row border near its middle. */
const places = ["anywhere", "antimeridian", "meridian", "equator", "north", "south", "corner"] as const;
type Place = (typeof places)[number];

/** How the coordinates of a vertex lie to the grid. */
const snaps = ["corner", "near corner", "column", "row", "middle"] as const;
type Snap = (typeof snaps)[number] | "free";

/** Rings flatter than high, or slivers along a diagonal. */
const shapes = ["round", "round", "flat", "high", "diagonal"] as const;
type Shape = (typeof shapes)[number];

/** Even between 0 and 1: doubles of `fc.double` are mostly next to 0, and biased integers at the ends. */
const share = fc.noBias(fc.integer({ min: 0, max: 2 ** 30 })).map((value) => value / 2 ** 30);

const vertex = fc.record({
  angle: share,
  reach: share.map((value) => 0.05 + 0.95 * value),
  snap: fc.constantFrom(...snaps),
  /** Snapped if below the ring's share. */
  freedom: share,
  offset: fc.constantFrom(-1e-9, 1e-9),
});

/**
 * Star-shaped and hence mostly simple rings of 3 to 15 vertices, also thin or much smaller than a cell; on corners
 * of cells, 1e-9 of a cell next to them and in between; both orientations; open and closed.
 */
export const ringsInGrid = ringsOf([0.02, 0.4, 1, 2, 3.5], 15);

/** The same with a few vertices and many cells, so that most rows and columns have no vertex. */
export const largeRingsInGrid = ringsOf([8, 15], 5);

function ringsOf(sizes: readonly number[], maxVertices: number): fc.Arbitrary<RingInGrid> {
  return fc
    .record({
      precision: fc.integer({ min: 1, max: 12 }),
      place: fc.constantFrom(...places),
      middle: fc.tuple(share, share),
      size: fc.constantFrom(...sizes),
      shape: fc.constantFrom(...shapes),
      snapped: fc.constantFrom(0, 0.15, 0.5),
      vertices: fc.array(vertex, { minLength: 3, maxLength: maxVertices, size: "max" }),
      isClockwise: fc.boolean(),
      isClosed: fc.boolean(),
      isSorted: fc.integer({ min: 0, max: 9 }).map((chance) => chance > 0),
    })
    .map(({ precision, place, middle, size, shape, snapped, vertices, isClockwise, isClosed, isSorted }) => {
      const rows = 2 ** Math.floor((5 * precision) / 2);
      const columns = 2 ** Math.ceil((5 * precision) / 2);
      const [height, width] = [180 / rows, 360 / columns];
      const [row, column] = middleOf(place, middle, rows, columns);
      const ordered = isSorted ? vertices.toSorted((one, other) => one.angle - other.angle) : vertices;
      const ring = ordered.map(({ angle, reach, snap, freedom, offset }) => {
        const [east, north] = shaped(shape, size * reach, 2 * Math.PI * angle);
        const [x, y] = moved(freedom < snapped ? snap : "free", column + east, row + north, offset);
        return pointAt(y * height - 90, x * width - 180);
      });
      if (isClockwise) ring.reverse();
      const [first] = ring;
      return { boundary: isClosed && first !== undefined ? [...ring, first] : ring, precision };
    });
}

function middleOf(
  place: Place,
  [north, east]: readonly [number, number],
  rows: number,
  columns: number,
): readonly [row: number, column: number] {
  const [up, right] = {
    anywhere: [north, east],
    antimeridian: [north, 1],
    meridian: [north, 1 / 2],
    equator: [1 / 2, east],
    north: [1, east],
    south: [0, east],
    corner: [Math.round(north * rows) / rows, Math.round(east * columns) / columns],
  }[place] as [number, number];
  return [up * rows, right * columns];
}

function shaped(shape: Shape, reach: number, angle: number): readonly [east: number, north: number] {
  const [cosine, sine] = [reach * Math.cos(angle), reach * Math.sin(angle)];
  return {
    round: [cosine, sine],
    flat: [2 * cosine, 0.001 * sine],
    high: [0.001 * cosine, 2 * sine],
    diagonal: [cosine + 0.0001 * sine, cosine - 0.0001 * sine],
  }[shape] as [number, number];
}

function moved(snap: Snap, x: number, y: number, offset: number): readonly [x: number, y: number] {
  return {
    free: [x, y],
    corner: [Math.round(x), Math.round(y)],
    "near corner": [Math.round(x) + offset, Math.round(y) - offset],
    column: [Math.round(x), y],
    row: [x, Math.round(y)],
    middle: [Math.floor(x) + 0.5, Math.floor(y) + 0.5],
  }[snap] as [number, number];
}

/** A point within ±90 and ±180: longitudes go around, latitudes end at the poles. */
function pointAt(latitude: number, longitude: number): Point {
  const around = longitude > 180 ? longitude - 360 : longitude < -180 ? longitude + 360 : longitude;
  return {
    latitude: Math.min(90, Math.max(-90, latitude)),
    longitude: Math.min(180, Math.max(-180, around)),
  };
}
