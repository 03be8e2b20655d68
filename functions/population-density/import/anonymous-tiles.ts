/**
 * Makes the tiles that may be published of counted people, at every precision. Nothing about a cell with fewer counted
 * people than the threshold K can be computed from them (`suppression.ts` has the rule).
 *
 * The covered cells of a day belong to parts, which never change once the day was published (`parts.ts`). Each part is
 * published independently: cells of different parts are never in one group, at any precision. A coarser cell is covered
 * by a part if any of its children is. Its density is its people divided by the area of the part's finest cells in it.
 *
 * The errors of counts are assumed to be independent: the distance to either end of a sum's range is the square root of
 * the sum of squares. The range of a group is the published interval of its sum, never that of its cells in the file.
 */

import { cellOf, codeAt, gridOf, suffixesOf, tileSide } from "../cover/geohash.ts";
import {
  addToCoverage,
  cellsPerTile,
  coverageBytes,
  hoursPerDay,
  isCovered,
  maxDensity,
  TileHour,
} from "../tiles/tile.ts";
import { rowArea } from "./cell-area.ts";
import type { CountedDay, CountedHour, CountedTile } from "./counted.ts";
import { type Range, scaledUp } from "./market-share.ts";
import { publishedSum, suppressedBound } from "./suppression.ts";

/** A part of a day in a tile. */
export interface TilePart {
  /** The part's id. */
  readonly part: string;
  /** The cells of the tile that the part covers, as `encodeTileDay` takes them. */
  readonly coverage: Uint8Array;
}

/** What may be published of a part in a tile. */
export interface PublishedPart extends TilePart {
  /** The area that the part covers of each cell, in km². */
  readonly areas: Float64Array;
  /** The 24 hours of the day in UTC, with a slot for each covered cell; undefined if the hour was not counted. */
  readonly hours: readonly (TileHour | undefined)[];
}

/** A tile's day as it may be published. */
export interface AnonymousTile {
  /** Length of the cells' geohashes. */
  readonly precision: number;
  /** What the geohashes of its cells have in common: all but the last two characters; `""` at precisions 1 and 2. */
  readonly geohash: string;
  /** One at least. */
  readonly parts: readonly PublishedPart[];
}

/** The rules for publishing a day. */
export interface Anonymity {
  /** The wanted precisions; those finer than the counted one are not made. */
  readonly precisions: readonly number[];
  /** K: a cell with fewer counted people is suppressed. */
  readonly threshold: number;
  /** The share of all people that is counted, above 0 and at most 1; 1 if absent. */
  readonly marketShare?: number | undefined;
}

/**
 * The tiles of a day at every precision that is wanted, each once, in the order in which they are finished. Holds
 * one tile per precision at most.
 * @param partsIn how the covered cells of a tile of the finest precision are divided; cells of no part are left out.
 * @throws RangeError for tiles that are not in order or not counted in the same hours.
 */
export async function* anonymousTiles(
  day: Pick<CountedDay, "precision" | "tiles">,
  { precisions, threshold, marketShare = 1 }: Anonymity,
  partsIn: (tile: CountedTile) => readonly TilePart[],
): AsyncGenerator<AnonymousTile> {
  const wanted = new Set(precisions);
  const coarsest = Math.min(...precisions);
  const open = new Map<number, WholeTile>();

  function* finish(tile: WholeTile): Generator<AnonymousTile> {
    if (wanted.has(tile.precision)) yield anonymous(tile, marketShare);
    const precision = tile.precision - 1;
    if (precision < coarsest) return;
    // Children are consecutive, so a tile is finished when a child of another tile comes.
    let above = open.get(precision);
    const geohash = tile.geohash.slice(0, -1);
    if (above?.geohash !== geohash) {
      if (above !== undefined) yield* finish(above);
      above = { precision, geohash, parts: [] };
      open.set(precision, above);
    }
    addParents(above, tile, threshold);
  }

  let before: CountedTile | undefined;
  for await (const tile of day.tiles) {
    if (before !== undefined) refuseAfter(before, tile);
    before = tile;
    const parts = partsIn(tile);
    if (parts.length > 0) yield* finish(finestTile(tile, parts, day.precision, threshold));
  }
  for (let precision = day.precision - 1; precision >= coarsest; precision--) {
    const tile = open.get(precision);
    if (tile !== undefined) yield* finish(tile);
  }
}

function refuseAfter(before: CountedTile, tile: CountedTile): void {
  if (tile.geohash <= before.geohash) {
    throw new RangeError(`tile ${tile.geohash} comes after tile ${before.geohash}`);
  }
  for (let hour = 0; hour < hoursPerDay; hour++) {
    if ((tile.hours[hour] === undefined) !== (before.hours[hour] === undefined)) {
      throw new RangeError(
        `hour ${hour} is counted in one of the tiles ${before.geohash} and ${tile.geohash}`,
      );
    }
  }
}

/** A tile to which the cells below it are being added, or were added completely. */
interface WholeTile {
  readonly precision: number;
  readonly geohash: string;
  readonly parts: WholePart[];
}

interface WholePart extends TilePart {
  readonly areas: Float64Array;
  readonly hours: readonly (WholeHour | undefined)[];
}

/** The people that are passed to the parents: published ones, and counted ones of suppressed cells. */
interface WholeHour extends CountedHour {
  /** The maximum of a suppressed cell, in multiples of K − 1; 0 for other cells. */
  readonly bounds: Uint32Array;
}

function finestTile(
  { geohash, hours }: CountedTile,
  parts: readonly TilePart[],
  precision: number,
  threshold: number,
): WholeTile {
  const areas = finestAreas(geohash, precision);
  const whole = hours.map((hour) => hour && { ...hour, bounds: finestBounds(hour.people, threshold) });
  return {
    precision,
    geohash,
    parts: parts.map(({ part, coverage }) => ({ part, coverage, areas, hours: whole })),
  };
}

/** The area of each cell of a tile, in km². */
export function finestAreas(geohash: string, precision: number): Float64Array {
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

function finestBounds(people: Float64Array, threshold: number): Uint32Array {
  const bounds = new Uint32Array(cellsPerTile);
  for (let cell = 0; cell < cellsPerTile; cell++) bounds[cell] = at(people, cell) < threshold ? 1 : 0;
  return bounds;
}

function emptyPart(part: string, alike: WholePart["hours"]): WholePart {
  return {
    part,
    coverage: new Uint8Array(coverageBytes),
    areas: new Float64Array(cellsPerTile),
    hours: alike.map(
      (hour) =>
        hour && {
          people: new Float64Array(cellsPerTile),
          least: new Float64Array(cellsPerTile),
          greatest: new Float64Array(cellsPerTile),
          bounds: new Uint32Array(cellsPerTile),
        },
    ),
  };
}

/** Cells of a tile that have all but the last character in common: the children of one cell. */
const cellsPerParent = 32;

const characters = suffixesOf(1);

/** The index, in the tile above, of the parent of a tile's first cells; the parents of its others follow. */
function firstParentIn(above: { readonly precision: number }, { geohash }: { geohash: string }): number {
  return above.precision === 1 ? 0 : characters.indexOf(geohash.slice(-1)) * cellsPerParent;
}

/** Adds the parents of a tile's cells to the tile they are in, all of them as a tile has all children of each. */
function addParents(above: WholeTile, tile: WholeTile, threshold: number): void {
  const first = firstParentIn(above, tile);
  for (const from of tile.parts) {
    let to = above.parts.find(({ part }) => part === from.part);
    if (to === undefined) {
      to = emptyPart(from.part, from.hours);
      above.parts.push(to);
    }
    for (let index = 0; index < cellsPerTile / cellsPerParent; index++) {
      const children = childrenOf(from.coverage, index);
      if (children.length === 0) continue;
      const parent = first + index;
      addToCoverage(to.coverage, parent);
      to.areas[parent] = children.reduce((area, child) => area + at(from.areas, child), 0);
      for (const [hour, toHour] of to.hours.entries()) {
        const fromHour = from.hours[hour];
        if (toHour !== undefined && fromHour !== undefined) {
          setParent(toHour, parent, fromHour, children, threshold);
        }
      }
    }
  }
}

/** The covered children of the cell whose children are the first, second, … of a tile. */
export function childrenOf(coverage: Uint8Array, parent: number): number[] {
  const children: number[] = [];
  for (let child = parent * cellsPerParent; child < (parent + 1) * cellsPerParent; child++) {
    if (isCovered(coverage, child)) children.push(child);
  }
  return children;
}

function setParent(
  to: WholeHour,
  parent: number,
  from: WholeHour,
  children: readonly number[],
  threshold: number,
): void {
  const group = { people: 0, bound: 0, maxBound: 0 };
  let [people, squaresBelow, squaresAbove] = [0, 0, 0];
  let published = 0;
  for (const child of children) {
    const counted = at(from.people, child);
    const bound = from.bounds[child] ?? 0;
    if (bound > 0) {
      group.people += counted;
      group.bound += bound;
      group.maxBound = Math.max(group.maxBound, bound);
    } else {
      published++;
      people += counted;
      squaresBelow += (counted - at(from.least, child)) ** 2;
      squaresAbove += (at(from.greatest, child) - counted) ** 2;
    }
  }
  if (published === 0) {
    const bound = suppressedBound(group, threshold);
    if (bound > 0) {
      to.people[parent] = group.people;
      to.bounds[parent] = bound;
      return;
    }
  }
  if (group.bound > 0) {
    const { least, greatest } = publishedSum(group, threshold);
    people += (least + greatest) / 2;
    squaresBelow += ((greatest - least) / 2) ** 2;
    squaresAbove += ((greatest - least) / 2) ** 2;
  }
  to.people[parent] = people;
  to.least[parent] = people - Math.sqrt(squaresBelow);
  to.greatest[parent] = people + Math.sqrt(squaresAbove);
}

function anonymous({ precision, geohash, parts }: WholeTile, marketShare: number): AnonymousTile {
  return {
    precision,
    geohash,
    parts: parts.map(({ part, coverage, areas, hours }) => {
      const cells = Array.from({ length: cellsPerTile }, (_, cell) => cell).filter((cell) =>
        isCovered(coverage, cell),
      );
      const published = hours.map((hour) => hour && anonymousHour(hour, cells, areas, marketShare));
      return { part, coverage, areas, hours: published };
    }),
  };
}

function anonymousHour(
  { people, least, greatest, bounds }: WholeHour,
  cells: readonly number[],
  areas: Float64Array,
  marketShare: number,
): TileHour {
  const anonymous = new TileHour();
  for (const cell of cells) {
    if ((bounds[cell] ?? 0) > 0) anonymous.setSuppressed(cell);
    else {
      const counted = { people: at(people, cell), least: at(least, cell), greatest: at(greatest, cell) };
      setPeople(anonymous, cell, scaledUp(counted, marketShare), at(areas, cell));
    }
  }
  return anonymous;
}

/** Stores people with their range as a density, limited to the maximum of a slot. */
export function setPeople(hour: TileHour, cell: number, range: Range, area: number): void {
  const density = densityOf(range.people, area);
  // Sums of different numbers are rounded differently.
  const minimum = Math.max(0, Math.min(densityOf(range.least, area), density));
  hour.setEstimate(cell, density, minimum, Math.max(densityOf(range.greatest, area), density));
}

function densityOf(people: number, area: number): number {
  return Math.min(people / area, maxDensity);
}

function at(numbers: Float64Array, cell: number): number {
  return numbers[cell] ?? Number.NaN;
}
