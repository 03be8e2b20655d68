/**
 * Adds the cells of tiles up to those of coarser tiles, one precision at a time.
 *
 * A tile has 1,024 cells. The cells whose geohashes differ only in the last character, 32 of them, are the children of
 * one cell of the tile above; so a tile gives the tile above 32 adjacent cells, and 32 tiles fill it:
 *
 * ```text
 * precision 7, tile u05kq    cells   0 … 31 │ 32 … 63 │ …          │ 992 … 1023
 *                                      │         │                     │
 * precision 6, tile u05k     cells     q·32    q·32+1    …           q·32+31        (q stands for 22)
 * ```
 *
 * Each part has arrays with one number for each cell, at its index in the tile:
 *
 * ```text
 *                       0    1    2   …   1023
 * coverage  (bits)      1    1    0        1     whether the part covers the cell
 * areas                 a    a    0        a     how much of it, in km²
 * bounds                1    1    0        1     people if it is suppressed, at most, in multiples of K
 * hours[h].people     120    4    0       18     counted, or published for the children
 *         .min .max   117…              16…21    the range, without half
 *         .half         0    0    0        5     half of the widths of the groups' intervals
 *         .suppressed   0    1    0        0
 * ```
 */
import { rowArea } from "../cover/cell-area.ts";
import { cellOf, codeAt, gridOf, suffixesOf, tileSide } from "../cover/geohash.ts";
import { addToCoverage, isCovered } from "../tiles/tile.ts";
import { cellsPerTile } from "../tiles/tile-hour.ts";
import type { CountedHour, CountedTile } from "./counted.ts";
import { type GroupBounds, isSuppressed, publishedSum, suppressedBound } from "./suppression.ts";

/** A part of a day in a tile. */
export interface TilePart {
  /** The part's id. */
  readonly part: string;
  /** The cells of the tile that the part covers, as `encodeTileDay` takes them. */
  readonly coverage: Uint8Array;
}

/** A tile to which the cells below it are being added, or have been added. */
export interface TileSums {
  readonly precision: number;
  readonly geohash: string;
  readonly parts: PartSums[];
}

/** The sums of a part in such a tile. */
export interface PartSums extends TilePart {
  /** The covered area of each cell, in km². */
  readonly areas: Float64Array;
  /** The maximum number of people in each cell if it is suppressed, in multiples of K. */
  readonly bounds: Uint32Array;
  readonly hours: readonly (HourSums | undefined)[];
}

/** The people to be added to the parents: published numbers, and the counts of suppressed cells. */
export interface HourSums extends CountedHour {
  /**
   * Half of the sum of the widths of the published intervals of all groups in a cell; not included in `min` and `max`.
   */
  readonly half: Float64Array;
  /** 1 for a suppressed cell. */
  readonly suppressed: Uint8Array;
}

/** The sums of a counted tile of the finest precision. */
export function finestTile(
  { geohash, hours }: Pick<CountedTile, "geohash" | "hours">,
  parts: readonly TilePart[],
  precision: number,
  threshold: number,
): TileSums {
  const areas = cellAreas(geohash, precision);
  const bounds = new Uint32Array(cellsPerTile).fill(1);
  const half = new Float64Array(cellsPerTile);
  const whole = hours.map(
    (hour) => hour && { ...hour, half, suppressed: suppressedIn(hour.people, threshold) },
  );
  return {
    precision,
    geohash,
    parts: parts.map(({ part, coverage }) => ({ part, coverage, areas, bounds, hours: whole })),
  };
}

function suppressedIn(people: Float64Array, threshold: number): Uint8Array {
  const suppressed = new Uint8Array(cellsPerTile);
  // `Uint8Array.from` takes ten times as long.
  for (let cell = 0; cell < cellsPerTile; cell++) suppressed[cell] = at(people, cell) < threshold ? 1 : 0;
  return suppressed;
}

/** The area of each cell of a tile, in km². */
export function cellAreas(geohash: string, precision: number): Float64Array {
  const areas = new Float64Array(cellsPerTile);
  const firstRow = cellOf(geohash).row * tileSide;
  const { rows, columns } = gridOf(precision);
  for (let row = 0; row < Math.min(tileSide, rows); row++) {
    const area = rowArea(firstRow + row, precision);
    for (let column = 0; column < Math.min(tileSide, columns); column++) {
      areas[codeAt(row, column, precision)] = area;
    }
  }
  return areas;
}

function emptyPart(part: string, alike: PartSums["hours"], cells: number): PartSums {
  return {
    part,
    coverage: new Uint8Array(cells / 8),
    areas: new Float64Array(cells),
    bounds: new Uint32Array(cells),
    hours: alike.map(
      (hour) =>
        hour && {
          people: new Float64Array(cells),
          min: new Float64Array(cells),
          max: new Float64Array(cells),
          half: new Float64Array(cells),
          suppressed: new Uint8Array(cells),
        },
    ),
  };
}

/**
 * A tile's contribution to the tile above: the sums of its cells' parents, which are `parentsPerTile` cells of the tile
 * above. All children of a cell are in one tile, so no other tile contributes to these cells.
 */
export interface ParentSums {
  /** The precision of the parents. */
  readonly precision: number;
  /** The geohash of the tile above. */
  readonly geohash: string;
  /** The index of the first parent in the tile above. */
  readonly first: number;
  /** With arrays of `parentsPerTile` numbers, and as many bits of coverage. */
  readonly parts: readonly PartSums[];
}

/** Cells of a tile whose geohashes differ only in the last character: the children of one cell. */
const cellsPerParent = 32;

const parentsPerTile = cellsPerTile / cellsPerParent;

const characters = suffixesOf(1);

/** The sums of the parents of a tile's cells. */
function parentSums(tile: TileSums, threshold: number): ParentSums {
  const precision = tile.precision - 1;
  return {
    precision,
    geohash: tile.geohash.slice(0, -1),
    first: precision === 1 ? 0 : characters.indexOf(tile.geohash.slice(-1)) * parentsPerTile,
    parts: tile.parts.map((from) => {
      const to = emptyPart(from.part, from.hours, parentsPerTile);
      for (let parent = 0; parent < parentsPerTile; parent++) {
        const children = childrenOf(from.coverage, parent);
        if (children.length === 0) continue;
        addToCoverage(to.coverage, parent);
        to.areas[parent] = children.reduce((area, child) => area + at(from.areas, child), 0);
        to.bounds[parent] = suppressedBound(boundsOf(from.bounds, children), threshold);
        for (const [hour, toHour] of to.hours.entries()) {
          const fromHour = from.hours[hour];
          if (toHour !== undefined && fromHour !== undefined) {
            setParent(toHour, parent, fromHour, from.bounds, children, threshold);
          }
        }
      }
      return to;
    }),
  };
}

/** Copies the sums of parents into their tile. */
function putSums(above: TileSums, { first, parts }: ParentSums): void {
  for (const from of parts) {
    let to = above.parts.find(({ part }) => part === from.part);
    if (to === undefined) {
      to = emptyPart(from.part, from.hours, cellsPerTile);
      above.parts.push(to);
    }
    to.coverage.set(from.coverage, first / 8);
    to.areas.set(from.areas, first);
    to.bounds.set(from.bounds, first);
    for (const [hour, toHour] of to.hours.entries()) {
      const fromHour = from.hours[hour];
      if (toHour === undefined || fromHour === undefined) continue;
      toHour.people.set(fromHour.people, first);
      toHour.min.set(fromHour.min, first);
      toHour.max.set(fromHour.max, first);
      toHour.half.set(fromHour.half, first);
      toHour.suppressed.set(fromHour.suppressed, first);
    }
  }
}

/** The precision at which the addition ends. */
export interface TopTiles {
  readonly precision: number;
  /** Receives what each finished tile of this precision, which is at least 2, would contribute to the tile above. */
  readonly take?: (sums: ParentSums) => void;
}

/** Adds tiles up to coarser precisions. A coarser tile is finished when a tile arrives that is not below it. */
export class TilePyramid {
  readonly #threshold: number;
  readonly #top: TopTiles;
  /** The unfinished tile of each precision. */
  readonly #open = new Map<number, TileSums>();

  constructor(threshold: number, top: TopTiles) {
    this.#threshold = threshold;
    this.#top = top;
  }

  /**
   * Adds a tile; tiles of a precision must come in ascending order.
   * @returns the tile, and the tiles that it finishes.
   */
  *add(tile: TileSums): Generator<TileSums> {
    yield tile;
    if (tile.precision > this.#top.precision) yield* this.addSums(parentSums(tile, this.#threshold));
    else if (tile.precision === this.#top.precision) this.#top.take?.(parentSums(tile, this.#threshold));
  }

  /** Adds the contribution of a tile to the one above. */
  *addSums(sums: ParentSums): Generator<TileSums> {
    const { precision, geohash } = sums;
    let above = this.#open.get(precision);
    if (above?.geohash !== geohash) {
      if (above !== undefined) yield* this.add(above);
      above = { precision, geohash, parts: [] };
      this.#open.set(precision, above);
    }
    putSums(above, sums);
  }

  /** Finishes the remaining tiles. */
  *end(): Generator<TileSums> {
    for (let precision = Math.max(...this.#open.keys()); precision >= this.#top.precision; precision--) {
      const tile = this.#open.get(precision);
      if (tile !== undefined) yield* this.add(tile);
    }
  }
}

/** The covered children of a parent. @param parent counts the parents of the tile's cells from 0. */
export function childrenOf(coverage: Uint8Array, parent: number): number[] {
  const children: number[] = [];
  for (let child = parent * cellsPerParent; child < (parent + 1) * cellsPerParent; child++) {
    if (isCovered(coverage, child)) children.push(child);
  }
  return children;
}

function boundsOf(bounds: Uint32Array, cells: readonly number[]): GroupBounds {
  let [bound, maxBound] = [0, 0];
  for (const cell of cells) {
    const ofCell = bounds[cell] ?? 0;
    bound += ofCell;
    maxBound = Math.max(maxBound, ofCell);
  }
  return { bound, maxBound };
}

function setParent(
  to: HourSums,
  parent: number,
  from: HourSums,
  bounds: Uint32Array,
  children: readonly number[],
  threshold: number,
): void {
  const grouped: number[] = [];
  let groupPeople = 0;
  let [people, squaresBelow, squaresAbove, half] = [0, 0, 0, 0];
  for (const child of children) {
    const counted = at(from.people, child);
    if (from.suppressed[child] === 1) {
      grouped.push(child);
      groupPeople += counted;
    } else {
      people += counted;
      squaresBelow += (counted - at(from.min, child)) ** 2;
      squaresAbove += (at(from.max, child) - counted) ** 2;
      half += at(from.half, child);
    }
  }
  const group = { people: groupPeople, ...boundsOf(bounds, grouped) };
  if (grouped.length === children.length && isSuppressed(group, threshold)) {
    to.people[parent] = groupPeople;
    to.suppressed[parent] = 1;
    return;
  }
  if (grouped.length > 0) {
    const { min, max } = publishedSum(group, threshold);
    people += (min + max) / 2;
    half += (max - min) / 2;
  }
  to.people[parent] = people;
  to.min[parent] = people - Math.sqrt(squaresBelow);
  to.max[parent] = people + Math.sqrt(squaresAbove);
  to.half[parent] = half;
}

function at(numbers: Float64Array, cell: number): number {
  return numbers[cell] ?? Number.NaN;
}
