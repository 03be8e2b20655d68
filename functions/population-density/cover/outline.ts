import { cellOf, geohashAt, gridOf } from "./geohash.ts";

/** More cells are never traced: an outline follows the edges of coarser ones. */
export const maxCells = 2 ** 16;

/** Most points of all rings of an outline together. */
const maxPoints = 300;

/** Polygons around covered cells. */
export interface Outline {
  /** That of the cells whose edges the polygons follow. */
  readonly precision: number;
  /** Coordinates of a GeoJSON MultiPolygon, in degrees. */
  readonly coordinates: number[][][][];
  /** For each precision up to this one, which share of the cells that have anything covered in them is covered. */
  readonly shares: { readonly precision: number; readonly share: number }[];
}

/**
 * The outline of cells: along the edges of cells, of the finest precision at which it has few points. So it holds all of
 * the cells, and more only if coarser cells are needed. Polygons end at the antimeridian (RFC 7946, section 3.1.9).
 * @param given geohashes of one length, at least one.
 */
export function outlineAround(given: ReadonlySet<string>): Outline {
  for (let cells = given; ; cells = parentsOf(cells)) {
    if (cells.size > maxCells) continue;
    const coordinates = polygonsAround(new Set([...cells].sort()));
    if (lengthOf(cells) === 1 || pointsOf(coordinates) <= maxPoints) return outlineOf(cells, coordinates);
  }
}

/** The outline of all that two outlines hold. The same two give the same one, in either order. */
export function mergedOutline(one: Outline, other: Outline): Outline {
  return outlineAround(unionOf(cellsWithin(one), cellsWithin(other)));
}

function outlineOf(cells: ReadonlySet<string>, coordinates: number[][][][]): Outline {
  const precision = lengthOf(cells);
  const shares: Outline["shares"] = [];
  let above = cells;
  for (let coarser = precision; coarser >= 1; coarser--) {
    shares.unshift({ precision: coarser, share: cells.size / (above.size * 32 ** (precision - coarser)) });
    if (coarser > 1) above = parentsOf(above);
  }
  return { precision, coordinates, shares };
}

function lengthOf([first = ""]: ReadonlySet<string>): number {
  return first.length;
}

function pointsOf(coordinates: number[][][][]): number {
  return coordinates.flat().reduce((sum, ring) => sum + ring.length, 0);
}

function parentsOf(cells: ReadonlySet<string>): Set<string> {
  return new Set(Array.from(cells, (cell) => cell.slice(0, -1)));
}

function unionOf(one: Set<string>, other: Set<string>): Set<string> {
  const coarser = lengthOf(one) < lengthOf(other) ? one : other;
  let finer = coarser === one ? other : one;
  while (lengthOf(finer) > lengthOf(coarser)) finer = parentsOf(finer);
  return new Set([...finer, ...coarser]);
}

/** The cells that an outline goes around. */
function cellsWithin({ precision, coordinates }: Outline): Set<string> {
  const { cellHeight, cellWidth } = gridOf(precision);
  const cells = new Set<string>();
  for (const rings of coordinates) {
    /** Where a row of cells enters or leaves the polygon. */
    const crossings = new Map<number, number[]>();
    for (const ring of rings) {
      for (const [index, [longitude = 0, latitude = 0]] of ring.entries()) {
        const [nextLongitude, nextLatitude = latitude] = ring[index + 1] ?? [];
        if (nextLongitude !== longitude) continue;
        const column = Math.round((longitude + 180) / cellWidth);
        const ends = [latitude, nextLatitude].map((each) => Math.round((each + 90) / cellHeight));
        for (let row = Math.min(...ends); row < Math.max(...ends); row++) {
          crossings.set(row, [...(crossings.get(row) ?? []), column]);
        }
      }
    }
    for (const [row, columns] of crossings) {
      columns.sort((one, other) => one - other);
      for (let pair = 0; pair + 1 < columns.length; pair += 2) {
        for (let column = columns[pair] ?? 0; column < (columns[pair + 1] ?? 0); column++) {
          cells.add(geohashAt(row, column, precision));
        }
      }
    }
  }
  return cells;
}

/** The steps along the edges of a cell with the cell on the left, and where the neighbour is beyond each. */
const steps = [
  { from: [0, 0], to: [1, 0], beyond: [0, -1] },
  { from: [1, 0], to: [1, 1], beyond: [1, 0] },
  { from: [1, 1], to: [0, 1], beyond: [0, 1] },
  { from: [0, 1], to: [0, 0], beyond: [-1, 0] },
] as const;

interface Edge {
  /** Column and row of the end. */
  readonly to: readonly [number, number];
  /** Index into `steps`. */
  readonly step: number;
  /** The cell on its left. */
  readonly cell: string;
}

/** Polygons whose first ring is counterclockwise, around cells that share edges; the others are holes. */
function polygonsAround(cells: ReadonlySet<string>): number[][][][] {
  const precision = lengthOf(cells);
  const { columns, cellHeight, cellWidth } = gridOf(precision);
  const keyOf = (column: number, row: number) => row * (columns + 1) + column;
  const positionOf = new Map(Array.from(cells, (cell) => [cell, cellOf(cell)]));
  const taken = new Set(Array.from(positionOf.values(), ({ row, column }) => keyOf(column, row)));
  const edges = new Map<number, Edge[]>();
  for (const [cell, { row, column }] of positionOf) {
    for (const [step, { from, to, beyond }] of steps.entries()) {
      const neighbour = column + beyond[0];
      const isInGrid = neighbour >= 0 && neighbour < columns && row + beyond[1] >= 0;
      if (isInGrid && taken.has(keyOf(neighbour, row + beyond[1]))) continue;
      const start = keyOf(column + from[0], row + from[1]);
      const edge: Edge = { to: [column + to[0], row + to[1]], step, cell };
      edges.set(start, [...(edges.get(start) ?? []), edge]);
    }
  }
  const regions = regionsOf(positionOf, keyOf, columns);
  const polygons = new Map<number, { outer: number[][]; holes: number[][][] }>();
  for (const [start, [first]] of edges) {
    for (let begin = first; begin !== undefined; begin = edges.get(start)?.[0]) {
      const { cell } = begin;
      const { ring, turns } = ringFrom(start, begin, edges, keyOf);
      const positions = ring.map(([column, row]) => [column * cellWidth - 180, row * cellHeight - 90]);
      const region = regions.get(cell) ?? -1;
      const polygon = polygons.get(region) ?? { outer: [], holes: [] };
      if (turns > 0) polygon.outer = positions;
      else polygon.holes.push(positions);
      polygons.set(region, polygon);
    }
  }
  return Array.from(polygons.values(), ({ outer, holes }) => [outer, ...holes]);
}

/** Takes a ring's edges away. At a corner that two cells touch, it goes left: around the same cell. */
function ringFrom(
  start: number,
  begin: Edge,
  edges: Map<number, Edge[]>,
  keyOf: (column: number, row: number) => number,
): { readonly ring: (readonly [number, number])[]; readonly turns: number } {
  const ring: (readonly [number, number])[] = [];
  let turns = 0;
  let edge = begin;
  let at = start;
  for (;;) {
    edges.set(
      at,
      (edges.get(at) ?? []).filter((each) => each !== edge),
    );
    const end = keyOf(...edge.to);
    const following = end === start ? begin : nextEdge(edge, edges.get(end) ?? []);
    if (following === undefined) throw new Error("an outline is not closed");
    const turn = (following.step - edge.step + 4) % 4;
    if (turn !== 0) ring.push(edge.to);
    turns += turn === 1 ? 1 : turn === 3 ? -1 : 0;
    if (end === start) break;
    [edge, at] = [following, end];
  }
  const [first] = ring;
  return { ring: first === undefined ? ring : [...ring, first], turns };
}

function nextEdge({ step }: Edge, leaving: readonly Edge[]): Edge | undefined {
  return leaving.find((each) => each.step === (step + 1) % 4) ?? leaving[0];
}

/** Numbers the cells that are connected by edges. */
function regionsOf(
  positionOf: ReadonlyMap<string, { readonly row: number; readonly column: number }>,
  keyOf: (column: number, row: number) => number,
  columns: number,
): ReadonlyMap<string, number> {
  const cellAt = new Map(Array.from(positionOf, ([cell, { row, column }]) => [keyOf(column, row), cell]));
  const regions = new Map<string, number>();
  for (const first of positionOf.keys()) {
    if (regions.has(first)) continue;
    const region = regions.size;
    const open = [first];
    regions.set(first, region);
    for (let cell = open.pop(); cell !== undefined; cell = open.pop()) {
      const { row = 0, column = 0 } = positionOf.get(cell) ?? {};
      for (const { beyond } of steps) {
        const neighbour = column + beyond[0];
        if (neighbour < 0 || neighbour >= columns) continue;
        const next = cellAt.get(keyOf(neighbour, row + beyond[1]));
        if (next === undefined || regions.has(next)) continue;
        regions.set(next, region);
        open.push(next);
      }
    }
  }
  return regions;
}
