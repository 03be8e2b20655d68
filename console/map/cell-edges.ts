/** The edges between cells, as long lines in which each edge is once. */
import { cellOf, gridOf } from "../../functions/population-density/cover/geohash.ts";
import type { Position } from "../data/outlines.ts";

/** A line of the grid, and which of its pieces are an edge of a cell. */
type Pieces = Map<number, Set<number>>;

/** The edges of cells of one precision: neighbours share theirs. */
export function edgesOf(geohashes: readonly string[]): Position[][] {
  const { cellWidth, cellHeight } = gridOf(geohashes[0]?.length ?? 1);
  const [alongRows, alongColumns]: [Pieces, Pieces] = [new Map(), new Map()];
  for (const geohash of geohashes) {
    const { row, column } = cellOf(geohash);
    for (const side of [0, 1]) {
      add(alongRows, row + side, column);
      add(alongColumns, column + side, row);
    }
  }
  const longitude = (column: number) => -180 + column * cellWidth;
  const latitude = (row: number) => -90 + row * cellHeight;
  return [
    ...runsOf(alongRows).map(({ line, from, to }): Position[] => [
      [longitude(from), latitude(line)],
      [longitude(to), latitude(line)],
    ]),
    ...runsOf(alongColumns).map(({ line, from, to }): Position[] => [
      [longitude(line), latitude(from)],
      [longitude(line), latitude(to)],
    ]),
  ];
}

function add(pieces: Pieces, line: number, piece: number): void {
  const found = pieces.get(line) ?? new Set();
  pieces.set(line, found.add(piece));
}

/** Pieces next to each other as one run. */
function runsOf(pieces: Pieces) {
  return [...pieces].flatMap(([line, found]) => {
    const sorted = [...found].sort((one, other) => one - other);
    const firsts = sorted.filter((piece) => !found.has(piece - 1));
    const lasts = sorted.filter((piece) => !found.has(piece + 1));
    return firsts.map((from, index) => ({ line, from, to: (lasts[index] ?? from) + 1 }));
  });
}
