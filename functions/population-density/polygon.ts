import { binaryPlaces, inUnits, signOf } from "./exact.ts";

/** In degrees, finite and within ±90 and ±180. */
export interface Point {
  readonly latitude: number;
  readonly longitude: number;
}

/**
 * A simple polygon: an open ring, counter-clockwise, its longitudes unwrapped along the ring, so that one that
 * crosses the antimeridian goes on beyond ±180. Edges are straight in latitude and longitude.
 */
export interface Polygon {
  readonly latitudes: Float64Array;
  /** Each the double nearest to the exact one. */
  readonly longitudes: Float64Array;
  readonly exact: ExactRing;
  /** Whether the doubles are the exact coordinates and products of them do not underflow. */
  readonly isPlain: boolean;
}

/** The coordinates of a polygon without loss, as integers of units of 2^−`places` degrees. */
interface ExactRing {
  readonly latitudes: readonly bigint[];
  readonly longitudes: readonly bigint[];
  /** At least as many as the borders of the cells of precision 12 have. */
  readonly places: number;
}

/**
 * The polygon of a boundary: a ring in either orientation, open or with its first point repeated as its last.
 * Two longitudes in a row that are more than 180 degrees apart cross the antimeridian. Every decision is exact.
 * The time grows with the square of the number of points.
 * @returns undefined for an area that is none (`INVALID_AREA`): fewer than 3 distinct points, no area, a boundary
 * that crosses or touches itself, or a boundary around a pole.
 */
export function polygonOf(boundary: readonly Point[]): Polygon | undefined {
  const unwrapped = unwrap(boundary);
  if (unwrapped === undefined) return undefined;
  const { places, unit } = unwrapped;
  const [first, last] = [unwrapped.ring[0], unwrapped.ring.at(-1)];
  const isClosed = unwrapped.ring.length > 1 && first?.x === last?.x && first?.y === last?.y;
  const open = isClosed ? unwrapped.ring.slice(0, -1) : unwrapped.ring;
  if (open.length < 3 || !isSimple(open) || meetsItselfAround(open, 360n * unit)) return undefined;
  const area = signOf(doubleArea(open));
  if (area === 0) return undefined;
  const ring = area > 0 ? open : open.toReversed();
  const longitudes = Float64Array.from(ring, ({ longitude, turns }) => longitude + 360 * turns);
  return {
    latitudes: Float64Array.from(ring, ({ latitude }) => latitude),
    longitudes,
    exact: { latitudes: ring.map(({ y }) => y), longitudes: ring.map(({ x }) => x), places },
    isPlain: ring.every(
      ({ latitude, x }, index) =>
        isOrdinary(latitude) &&
        isOrdinary(longitudes[index] ?? 0) &&
        x === inUnits(longitudes[index] ?? 0, places),
    ),
  };
}

/** A place in the unwrapped plane, in units of a power of two. */
interface Place {
  readonly x: bigint;
  readonly y: bigint;
}

interface Vertex extends Point, Place {
  /** How many times 360 degrees are added to the longitude. */
  readonly turns: number;
}

/** Borders of cells are multiples of 45 · 2^−28 degrees. */
const placesOfBorders = 28;

/** Nothing smaller can make the tail of a product underflow. */
function isOrdinary(value: number): boolean {
  return value === 0 || Math.abs(value) > 2 ** -300;
}

/** @returns undefined for a ring around a pole: unwrapped, it ends elsewhere than it began. */
function unwrap(boundary: readonly Point[]) {
  const places = boundary.reduce(
    (most, { latitude, longitude }) => Math.max(most, binaryPlaces(latitude), binaryPlaces(longitude)),
    placesOfBorders,
  );
  const unit = 1n << BigInt(places);
  const ring: Vertex[] = [];
  const longitudes = boundary.map(({ longitude }) => inUnits(longitude, places));
  let turns = 0;
  let before = longitudes[0] ?? 0n;
  for (const [index, { latitude, longitude }] of boundary.entries()) {
    const here = longitudes[index] ?? 0n;
    turns += turnBetween(before, here, unit);
    const x = here + 360n * unit * BigInt(turns);
    ring.push({ latitude, longitude, turns, x, y: inUnits(latitude, places) });
    before = here;
  }
  const closes = turns + turnBetween(before, longitudes[0] ?? 0n, unit) === 0;
  return closes ? { ring, places, unit } : undefined;
}

function turnBetween(before: bigint, here: bigint, unit: bigint): number {
  const jump = here - before;
  if (jump > 180n * unit) return -1;
  return jump < -180n * unit ? 1 : 0;
}

/** Whether no edge meets another one but at the vertex they share. */
function isSimple(ring: readonly Place[]): boolean {
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
function meetsItselfAround(ring: readonly Place[], globe: bigint): boolean {
  const xs = ring.map(({ x }) => x);
  const width =
    xs.reduce((one, other) => (one > other ? one : other)) -
    xs.reduce((one, other) => (one < other ? one : other));
  const edges = edgesOf(ring);
  for (let shift = globe; shift < width; shift += globe) {
    const shifted = edgesOf(ring.map(({ x, y }) => ({ x: x + shift, y })));
    if (edges.some(([a, b]) => shifted.some(([c, d]) => meets(a, b, c, d)))) return true;
  }
  return false;
}

type Edge = readonly [from: Place, to: Place];

function edgesOf(ring: readonly Place[]): Edge[] {
  return ring.map((from, index) => [from, ring[(index + 1) % ring.length] ?? from]);
}

/** Whether an edge is none, or the next one leads back over it. */
function goesBack(from: Place, to: Place, after: Place): boolean {
  if (sideOf(from, to, after) !== 0) return false;
  return (to.x - from.x) * (after.x - to.x) + (to.y - from.y) * (after.y - to.y) <= 0n;
}

/** Whether two edges have a point in common, their ends included. */
function meets(a: Place, b: Place, c: Place, d: Place): boolean {
  if (!overlaps(a.x, b.x, c.x, d.x) || !overlaps(a.y, b.y, c.y, d.y)) return false;
  // Boxes that overlap: then edges that are nowhere strictly on one side of the other one have a common point.
  return sideOf(a, b, c) * sideOf(a, b, d) <= 0 && sideOf(c, d, a) * sideOf(c, d, b) <= 0;
}

function overlaps(a: bigint, b: bigint, c: bigint, d: bigint): boolean {
  return (a < b ? a : b) <= (c < d ? d : c) && (c < d ? c : d) <= (a < b ? b : a);
}

/** 1 if a point is to the left of the way from one place to another, −1 to the right, 0 on the line. */
function sideOf(from: Place, to: Place, point: Place): number {
  return signOf((to.x - from.x) * (point.y - from.y) - (to.y - from.y) * (point.x - from.x));
}

/** Above 0 for a ring that is counter-clockwise. */
function doubleArea(ring: readonly Place[]): bigint {
  return edgesOf(ring).reduce((sum, [from, to]) => sum + from.x * to.y - to.x * from.y, 0n);
}
