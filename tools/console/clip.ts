/** Cuts shapes at the edges of a grid of squares. */
import type { Position } from "../../console/data/outlines.ts";

/** A square of the grid: its south-western corner is at (column × side, row × side) degrees. */
export interface Square {
  readonly column: number;
  readonly row: number;
}

/** A part of a shape that is in a square. */
interface Part extends Square {
  readonly positions: readonly Position[];
}

/** Cuts a closed ring, given without its last position, at the edges of squares. */
export function ringInSquares(ring: readonly Position[], side: number): Part[] {
  return stripsOf(ring, 0, side).flatMap(({ index: column, positions: strip }) =>
    stripsOf(strip, 1, side).map(({ index: row, positions }) => ({ column, row, positions })),
  );
}

/** Divides a line among squares: each gets the pieces that begin or end in it. */
export function lineInSquares(line: readonly Position[], side: number): Part[] {
  const parts: (Part & { positions: Position[] })[] = [];
  for (const [index, position] of line.entries()) {
    const square = { column: Math.floor(position[0] / side), row: Math.floor(position[1] / side) };
    const last = parts.at(-1);
    if (last !== undefined && last.column === square.column && last.row === square.row) {
      last.positions.push(position);
      continue;
    }
    last?.positions.push(position);
    const before = line[index - 1];
    parts.push({ ...square, positions: before === undefined ? [position] : [before, position] });
  }
  return parts.filter(({ positions }) => positions.length > 1);
}

/** The parts of a ring between multiples of the side, along an axis. */
function stripsOf(ring: readonly Position[], axis: 0 | 1, side: number) {
  const values = ring.map((position) => position[axis]);
  const first = Math.floor(values.reduce((one, other) => Math.min(one, other)) / side);
  const last = Math.ceil(values.reduce((one, other) => Math.max(one, other)) / side);
  const strips: { readonly index: number; readonly positions: readonly Position[] }[] = [];
  let rest = ring;
  for (let index = first; index < last - 1; index++) {
    strips.push({ index, positions: cutRing(rest, axis, (index + 1) * side, -1) });
    rest = cutRing(rest, axis, (index + 1) * side, 1);
  }
  strips.push({ index: last - 1, positions: rest });
  return strips.filter(({ positions }) => positions.length > 2);
}

/** The part of a ring on one side of a line (Sutherland and Hodgman). @param sign 1 keeps what is greater, -1 less. */
function cutRing(ring: readonly Position[], axis: 0 | 1, bound: number, sign: 1 | -1): Position[] {
  const isKept = (position: Position) => sign * (position[axis] - bound) >= 0;
  return ring.flatMap((position, index) => {
    const next = ring[(index + 1) % ring.length] ?? position;
    const kept = isKept(position) ? [position] : [];
    if (isKept(position) === isKept(next)) return kept;
    const share = (bound - position[axis]) / (next[axis] - position[axis]);
    const other = axis === 0 ? 1 : 0;
    const crossing: Position = [0, 0];
    crossing[axis] = bound;
    crossing[other] = position[other] + share * (next[other] - position[other]);
    return [...kept, crossing];
  });
}
