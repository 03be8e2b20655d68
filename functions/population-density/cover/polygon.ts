import { orient2d } from "robust-predicates";

/** In degrees, finite and within ±90 and ±180. */
export interface Point {
  readonly latitude: number;
  readonly longitude: number;
}

/**
 * A simple polygon: an open ring, counter-clockwise, its longitudes unwrapped along the ring, so that one that
 * crosses the antimeridian goes on beyond ±180. Edges are straight in latitude and longitude. Coordinates are
 * multiples of 2⁻⁴⁰ degrees, so that sums and differences of them are exact in a double.
 */
export interface Polygon {
  readonly latitudes: Float64Array;
  readonly longitudes: Float64Array;
}

/**
 * The polygon of a boundary: a ring in either orientation, open or with its first point repeated as its last; a point
 * that is repeated right away counts once.
 * Coordinates are rounded to 2⁻⁴⁰ degrees, a tenth of a micrometre; from there on every decision is exact, in doubles.
 * Without rounding, a coordinate such as 5e-324 takes big integers of a thousand digits for every edge and row. Two
 * longitudes in a row that are more than 180 degrees apart cross the antimeridian. The time grows with the square of
 * the number of points.
 * @returns undefined if the boundary encloses no area (`INVALID_AREA`): fewer than 3 distinct points, points on one
 * line (each less than a nanodegree away from it), a boundary that crosses or touches itself, or one around a pole.
 */
export function polygonOf(boundary: readonly Point[]): Polygon | undefined {
  const unwrapped = unwrap(boundary.map(rounded));
  if (unwrapped === undefined) return undefined;
  // A point that repeats the one before it, the last one around to the first, adds nothing.
  const open = unwrapped.filter((point, index) => !isSame(point, unwrapped[(index + 1) % unwrapped.length]));
  if (open.length < 3 || isLine(open) || !isSimple(open) || meetsItselfAround(open)) return undefined;
  const ring = isCounterClockwise(open) ? open : open.toReversed();
  return {
    latitudes: Float64Array.from(ring, ({ y }) => y),
    longitudes: Float64Array.from(ring, ({ x }) => x),
  };
}

/** A point in the unwrapped plane, in degrees. */
interface PlanePoint {
  readonly x: number;
  readonly y: number;
}

const unitsInDegree = 2 ** 40;

function rounded({ latitude, longitude }: Point): PlanePoint {
  const round = (degrees: number) => Math.round(degrees * unitsInDegree) / unitsInDegree;
  return { x: round(longitude), y: round(latitude) };
}

/**
 * Longitudes of up to 180 + 7 · 360 degrees, shifted by as much as the ring is wide, stay below 2¹³: 53 bits in all.
 */
const maxTurns = 7;

/**
 * @returns undefined for a ring around a pole, which ends elsewhere than it began, and for one that winds around the
 * globe more than seven times, which takes more than 15 points.
 */
function unwrap(ring: readonly PlanePoint[]): PlanePoint[] | undefined {
  const unwrapped: PlanePoint[] = [];
  const start = ring[0]?.x ?? 0;
  let turns = 0;
  let before = start;
  for (const { x, y } of ring) {
    turns += turnBetween(before, x);
    if (Math.abs(turns) > maxTurns) return undefined;
    unwrapped.push({ x: x + 360 * turns, y });
    before = x;
  }
  return turns + turnBetween(before, start) === 0 ? unwrapped : undefined;
}

function turnBetween(before: number, here: number): number {
  const jump = here - before;
  if (jump > 180) return -1;
  return jump < -180 ? 1 : 0;
}

function isSame(one: PlanePoint, other: PlanePoint | undefined): boolean {
  return one.x === other?.x && one.y === other.y;
}

/**
 * The least distance in degrees of a corner from the line through two others: a nanodegree, less what rounding may take
 * from it. Points on one line in decimals are not quite on one in binary fractions.
 */
const minWidth = 1e-9 - 2 / unitsInDegree;

/** Whether no corner is `minWidth` away from the line through the two that are farthest apart. */
function isLine(ring: readonly PlanePoint[]): boolean {
  const [from, to] = farthestPair(ring);
  const least = minWidth * Math.sqrt(squaredLength(from, to));
  return ring.every(({ x, y }) => Math.abs(orient2d(from.x, from.y, to.x, to.y, x, y)) < least);
}

function farthestPair(ring: readonly PlanePoint[]): Edge {
  let [first = origin, second = first] = ring;
  for (const [index, one] of ring.entries()) {
    for (const other of ring.slice(0, index)) {
      if (squaredLength(one, other) > squaredLength(first, second)) [first, second] = [one, other];
    }
  }
  return [first, second];
}

const origin: PlanePoint = { x: 0, y: 0 };

function squaredLength(one: PlanePoint, other: PlanePoint): number {
  return (one.x - other.x) ** 2 + (one.y - other.y) ** 2;
}

/** Whether no edge meets another one but at the vertex they share. */
function isSimple(ring: readonly PlanePoint[]): boolean {
  const edges = edgesOf(ring);
  return edges.every(([from, to], index) => {
    const after = edges[(index + 1) % edges.length]?.[1] ?? to;
    if (goesBack(from, to, after)) return false;
    return edges.every(
      ([otherFrom, otherTo], other) =>
        other <= index + 1 ||
        (index === 0 && other === edges.length - 1) ||
        !meets(from, to, otherFrom, otherTo),
    );
  });
}

/** A ring wider than the globe must not meet itself there either. At most as wide, it can only touch itself. */
function meetsItselfAround(ring: readonly PlanePoint[]): boolean {
  const xs = ring.map(({ x }) => x);
  const width = Math.max(...xs) - Math.min(...xs);
  const edges = edgesOf(ring);
  for (let shift = 360; shift < width; shift += 360) {
    const shifted = edgesOf(ring.map(({ x, y }) => ({ x: x + shift, y })));
    if (edges.some(([a, b]) => shifted.some(([c, d]) => meets(a, b, c, d)))) return true;
  }
  return false;
}

type Edge = readonly [from: PlanePoint, to: PlanePoint];

function edgesOf(ring: readonly PlanePoint[]): Edge[] {
  return ring.map((from, index) => [from, ring[(index + 1) % ring.length] ?? from]);
}

/** Whether an edge has no length, or the next one leads back over it. */
function goesBack(from: PlanePoint, to: PlanePoint, after: PlanePoint): boolean {
  if (sideOf(from, to, after) !== 0) return false;
  // On one line: one coordinate tells the direction.
  const axis = from.x === to.x ? "y" : "x";
  return Math.sign(to[axis] - from[axis]) * Math.sign(after[axis] - to[axis]) <= 0;
}

/** Whether two edges have a point in common, their ends included. */
function meets(a: PlanePoint, b: PlanePoint, c: PlanePoint, d: PlanePoint): boolean {
  if (!overlaps(a.x, b.x, c.x, d.x) || !overlaps(a.y, b.y, c.y, d.y)) return false;
  // Boxes that overlap: then edges that are nowhere strictly on one side of the other one have a common point.
  return sideOf(a, b, c) * sideOf(a, b, d) <= 0 && sideOf(c, d, a) * sideOf(c, d, b) <= 0;
}

function overlaps(a: number, b: number, c: number, d: number): boolean {
  return Math.min(a, b) <= Math.max(c, d) && Math.min(c, d) <= Math.max(a, b);
}

/** 1 if a point is to the left of the way from one point to another, −1 to the right, 0 on the line; exact. */
function sideOf(from: PlanePoint, to: PlanePoint, point: PlanePoint): number {
  // The library's y axis points down.
  return -Math.sign(orient2d(from.x, from.y, to.x, to.y, point.x, point.y));
}

/** The way a simple ring turns at its lowest vertex, the leftmost of them. */
function isCounterClockwise(ring: readonly PlanePoint[]): boolean {
  let lowest = 0;
  for (const [index, { x, y }] of ring.entries()) {
    const low = ring[lowest];
    if (low === undefined || y < low.y || (y === low.y && x < low.x)) lowest = index;
  }
  const [before, at, after] = [ring.at(lowest - 1), ring[lowest], ring[(lowest + 1) % ring.length]];
  return before !== undefined && at !== undefined && after !== undefined && sideOf(before, at, after) > 0;
}
