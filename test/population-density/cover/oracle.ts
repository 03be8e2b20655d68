import type { Point } from "../../../functions/population-density/cover/polygon.ts";

/*
 * What shares area with what, in rational numbers and without any of the cover's shortcuts: every cell of the
 * bounding box is cut out of the polygon, and counts if the piece has area.
 */

/** A point as integers x / w and y / w, w above 0, in units of 2^-40 degrees. */
interface Rational {
  readonly x: bigint;
  readonly y: bigint;
  readonly w: bigint;
}

export interface CellInGrid {
  readonly row: number;
  readonly column: number;
}

const alphabet = "0123456789bcdefghjkmnpqrstuvwxyz";

/** The geohash of a cell, bit by bit from the definition. */
export function geohashOf({ row, column }: CellInGrid, precision: number): string {
  const columnBits = column.toString(2).padStart(Math.ceil((5 * precision) / 2), "0");
  const rowBits = row.toString(2).padStart(Math.floor((5 * precision) / 2), "0");
  let geohash = "";
  let bits = "";
  for (let bit = 0; bit < 5 * precision; bit++) {
    bits += bit % 2 === 0 ? columnBits[bit / 2] : rowBits[(bit - 1) / 2];
    if (bits.length < 5) continue;
    geohash += alphabet[Number.parseInt(bits, 2)];
    bits = "";
  }
  return geohash;
}

/** The cover of a simple polygon that encloses no pole: sorted geohashes, each once. */
export function coverByOracle(boundary: readonly Point[], precision: number): string[] {
  const { ring, unit } = exactRing(boundary);
  const rows = 2n ** BigInt(Math.floor((5 * precision) / 2));
  const columns = 2n ** BigInt(Math.ceil((5 * precision) / 2));
  const [height, width] = [(180n * unit) / rows, (360n * unit) / columns];
  const [originX, originY] = [-180n * unit, -90n * unit];
  const xs = ring.map(({ x }) => x - originX);
  const ys = ring.map(({ y }) => y - originY);
  const geohashes = new Set<string>();
  for (let row = floor(minOf(ys), height); row * height < maxOf(ys); row++) {
    const bottom = originY + row * height;
    const inRow = clip(clip(ring, 0n, 1n, bottom), 0n, -1n, -(bottom + height));
    for (let column = floor(minOf(xs), width); column * width < maxOf(xs); column++) {
      const left = originX + column * width;
      const inCell = clip(clip(inRow, 1n, 0n, left), -1n, 0n, -(left + width));
      if (!hasArea(inCell)) continue;
      const around = ((column % columns) + columns) % columns;
      geohashes.add(geohashOf({ row: Number(row), column: Number(around) }, precision));
    }
  }
  return [...geohashes].sort();
}

/** How many cells the bounding box of a boundary has. */
export function boxOf(boundary: readonly Point[], precision: number): number {
  const { ring, unit } = exactRing(boundary);
  const span = (values: readonly bigint[], cell: number) =>
    Number(maxOf(values) - minOf(values)) / Number(unit) / cell + 1;
  const height = 180 / 2 ** Math.floor((5 * precision) / 2);
  const width = 360 / 2 ** Math.ceil((5 * precision) / 2);
  return (
    span(
      ring.map(({ x }) => x),
      width,
    ) *
    span(
      ring.map(({ y }) => y),
      height,
    )
  );
}

/** Whether a boundary is a polygon, by looking at every two of its edges everywhere around the globe. */
export function isPolygonByOracle(boundary: readonly Point[]): boolean {
  const { ring, unit, closes } = exactRing(boundary);
  if (!closes || ring.length < 3 || isLine(ring)) return false;
  const width = maxOf(ring.map(({ x }) => x)) - minOf(ring.map(({ x }) => x));
  for (let one = 0; one < ring.length; one++) {
    for (let turn = 0n; turn === 0n || turn * 360n * unit < width; turn++) {
      for (let other = 0; other < ring.length; other++) {
        const shift = turn * 360n * unit;
        const common = commonPoints(edgeOf(ring, one), edgeOf(ring, other, shift));
        const allowed =
          turn > 0n ? 0 : one === other ? 2 : next(ring, one) === other || next(ring, other) === one ? 1 : 0;
        if (common !== allowed) return false;
      }
    }
  }
  return true;
}

/** The least width of an area, as a fraction of units of 2^-40 degrees: a nanodegree, less two units. */
const [minWidth, ofWidth] = [2n ** 40n - 2n * 10n ** 9n, 10n ** 9n];

/** Whether no corner is a nanodegree away from the line through the two that are farthest apart. */
function isLine(ring: readonly Rational[]): boolean {
  const squared = (a: Rational, b: Rational) => (b.x - a.x) ** 2n + (b.y - a.y) ** 2n;
  const pairs = ring.flatMap((a) => ring.map((b) => [a, b] as const));
  const longest = maxOf(pairs.map(([a, b]) => squared(a, b)));
  const [from, to] = pairs.find(([a, b]) => squared(a, b) === longest) ?? [];
  if (from === undefined || to === undefined) return true;
  return ring.every(({ x, y }) => {
    const cross = (to.x - from.x) * (y - from.y) - (to.y - from.y) * (x - from.x);
    return (cross * ofWidth) ** 2n < minWidth ** 2n * longest;
  });
}

type Edge = readonly [a: Rational, b: Rational];

function next(ring: readonly Rational[], index: number): number {
  return (index + 1) % ring.length;
}

function edgeOf(ring: readonly Rational[], index: number, shift = 0n): Edge {
  const [a, b] = [ring[index], ring[next(ring, index)]];
  if (a === undefined || b === undefined) throw new Error("no such edge");
  return [
    { ...a, x: a.x + shift },
    { ...b, x: b.x + shift },
  ];
}

/** How many points two edges have in common: 0, 1, or 2 for more than one. Points are integers here. */
function commonPoints([a, b]: Edge, [c, d]: Edge): 0 | 1 | 2 {
  const cross = (ux: bigint, uy: bigint, vx: bigint, vy: bigint) => ux * vy - uy * vx;
  const [rx, ry, sx, sy] = [b.x - a.x, b.y - a.y, d.x - c.x, d.y - c.y];
  const between = cross(rx, ry, sx, sy);
  if (between !== 0n) {
    // a + t·r = c + u·s with t = n/between and u = m/between: both from 0 to 1?
    const n = cross(c.x - a.x, c.y - a.y, sx, sy);
    const m = cross(c.x - a.x, c.y - a.y, rx, ry);
    const isFraction = (value: bigint) =>
      between > 0n ? value >= 0n && value <= between : value <= 0n && value >= between;
    return isFraction(n) && isFraction(m) ? 1 : 0;
  }
  if (rx === 0n && ry === 0n && sx === 0n && sy === 0n) return a.x === c.x && a.y === c.y ? 1 : 0;
  const [ux, uy] = rx === 0n && ry === 0n ? [sx, sy] : [rx, ry];
  if (cross(ux, uy, c.x - a.x, c.y - a.y) !== 0n) return 0;
  // Parallel on one line: compare the ranges along it.
  const along = ({ x, y }: Rational) => ux * x + uy * y;
  const from = maxOf([minOf([along(a), along(b)]), minOf([along(c), along(d)])]);
  const to = minOf([maxOf([along(a), along(b)]), maxOf([along(c), along(d)])]);
  return from > to ? 0 : from === to ? 1 : 2;
}

/**
 * Coordinates are rounded to 2^-40 degrees (behaviour section 7); cells of precision 12 begin at multiples of 2^-28.
 */
const places = 40;

/** The open ring with exact longitudes that go on beyond ±180, in integers. */
function exactRing(boundary: readonly Point[]) {
  const unit = 1n << BigInt(places);
  const ring: Rational[] = [];
  let turns = 0n;
  let before: bigint | undefined;
  let start: bigint | undefined;
  const follow = (x: bigint) => {
    if (before !== undefined && x - before > 180n * unit) turns -= 1n;
    if (before !== undefined && before - x > 180n * unit) turns += 1n;
    before = x;
    start ??= x;
  };
  for (const { latitude, longitude } of boundary) {
    const x = rounded(longitude);
    follow(x);
    ring.push({ x: x + turns * 360n * unit, y: rounded(latitude), w: 1n });
  }
  if (start !== undefined) follow(start);
  const open = ring.filter(({ x, y }, index) => {
    const after = ring[(index + 1) % ring.length];
    return x !== after?.x || y !== after.y;
  });
  return { ring: open, unit, closes: turns === 0n };
}

/** A double in units of 2^-40, from its bits: the nearest integer, the upper one of two. */
function rounded(value: number): bigint {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, value);
  const exponent = (bits.getUint16(0) >> 4) & 0x7ff;
  const fraction = bits.getBigUint64(0) & ((1n << 52n) - 1n);
  const mantissa = exponent === 0 ? fraction : fraction | (1n << 52n);
  // The value is the mantissa in units of 2^-1074 and as many halvings less.
  const whole = mantissa << BigInt(Math.max(exponent, 1) - 1);
  const unit = BigInt(1_074 - places);
  return ((value < 0 ? -whole : whole) + (1n << (unit - 1n))) >> unit;
}

/** The part of a ring where a·x + b·y is at least c: Sutherland and Hodgman's step in homogeneous integers. */
function clip(ring: readonly Rational[], a: bigint, b: bigint, c: bigint): Rational[] {
  const inside = ({ x, y, w }: Rational) => a * x + b * y - c * w;
  return ring.flatMap((to, index) => {
    const from = ring.at(index - 1) ?? to;
    const [before, here] = [inside(from), inside(to)];
    const crossing = () => {
      const [one, other] = before > 0n ? [-here, before] : [here, -before];
      return {
        x: from.x * one + to.x * other,
        y: from.y * one + to.y * other,
        w: from.w * one + to.w * other,
      };
    };
    if (here >= 0n) return before < 0n && here > 0n ? [crossing(), to] : [to];
    return before > 0n ? [crossing()] : [];
  });
}

/** Bridges that clipping leaves between pieces have no area, so the sum is that of the pieces. */
function hasArea(ring: readonly Rational[]): boolean {
  let dividend = 0n;
  let divisor = 1n;
  for (const [index, to] of ring.entries()) {
    const from = ring.at(index - 1) ?? to;
    const product = from.w * to.w;
    dividend = dividend * product + (from.x * to.y - to.x * from.y) * divisor;
    divisor *= product;
  }
  return dividend !== 0n;
}

function floor(dividend: bigint, divisor: bigint): bigint {
  const cut = dividend / divisor;
  return cut * divisor > dividend ? cut - 1n : cut;
}

function minOf(values: readonly bigint[]): bigint {
  return values.reduce((one, other) => (one < other ? one : other));
}

function maxOf(values: readonly bigint[]): bigint {
  return values.reduce((one, other) => (one > other ? one : other));
}
