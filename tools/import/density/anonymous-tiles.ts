/**
 * What of counted people may be told: cells of every precision, none of which tells of fewer people than a threshold
 * T. One counted person stands for w people: 1, or more if only a share of all is counted.
 *
 * 1. A cell of the finest precision with fewer people than T in an hour is low: it is stored without a number. Any
 *    other cell of the finest precision is published: its people by its area.
 * 2. A coarser cell is covered if any of its children is. Its density is its people by the area of the cells of the
 *    finest precision below it that are covered.
 * 3. Its people are the published people of its children that are not low, and those of its low children as a group:
 *    m cells, each of at most T − w people, S people in all.
 *    a. S < T, all children are low: the cell is low itself, and its people go into the group of its own parent.
 *    b. S < T, some child is not low: the group counts as T/2 people, somewhere in 0…T, whatever S is, even 0. What
 *       is left of the cell when its published children are taken away is always the same.
 *    c. T ≤ S ≤ (m − 1)(T − w): the group counts as S people. Each of its cells may have none or up to T − w, as the
 *       others can make up for it. Its range is the sum of theirs, rounded outwards to multiples of T: where ranges
 *       follow from the people, their exact sum would be a second equation.
 *    d. S above both: all cells of the group are nearly full, so that S would tell of each; of two cells with 18
 *       people, each has 9 if it has fewer than 10. The group counts as the middle of what is then possible, which
 *       is also its range.
 *
 * The people of a low cell are used in c alone, and then no further: what goes upwards of a cell that is not low is
 * what was published of it. So all that is published follows from the published cells of the finest precision and
 * from sums of at least T people over groups that have no cell in common. Whoever has all of it can exclude no number
 * of people below T in any low cell, but 0 in a group of d. The people of a cell are those of its children, but for
 * the constants of b and d.
 */

import {
  cellOf,
  codeAt,
  gridOf,
  suffixesOf,
  tileSide,
} from "../../../functions/population-density/cover/geohash.ts";
import {
  addToCoverage,
  cellsPerTile,
  coverageBytes,
  greatestDensity,
  hoursPerDay,
  isCovered,
  TileHour,
} from "../../../functions/population-density/tile.ts";
import { rowArea } from "./cell-area.ts";
import type { CountedDay, CountedHour, CountedTile } from "./counted.ts";

/** A tile's day as it may be stored: no slot tells of fewer people than the threshold. */
export interface AnonymousTile {
  /** Length of the cells' geohashes. */
  readonly precision: number;
  /** What the geohashes of its cells have in common: all but the last two characters; `""` at precisions 1 and 2. */
  readonly geohash: string;
  /** The cells that are covered, as `encodeTileDay` takes them. */
  readonly coverage: Uint8Array;
  /** The 24 hours of the day in UTC, with a slot for each covered cell; undefined if the hour was not counted. */
  readonly hours: readonly (TileHour | undefined)[];
}

/** What may be told of a day. */
export interface Anonymity {
  /** Which precisions are wanted; those finer than what was counted are not made. */
  readonly precisions: readonly number[];
  /** The fewest people that are told of. */
  readonly threshold: number;
  /** How many people one counted person stands for, at least 1; 1 if absent. */
  readonly peoplePerCounted?: number | undefined;
}

/**
 * The tiles of a day at every precision that is wanted, each once, in the order in which they are finished. Holds
 * one tile per precision at most.
 * @throws RangeError for tiles that are not in order or not counted in the same hours.
 */
export async function* anonymousTiles(
  day: CountedDay,
  { precisions, threshold, peoplePerCounted = 1 }: Anonymity,
): AsyncGenerator<AnonymousTile> {
  const limits = { threshold, most: threshold - peoplePerCounted };
  const wanted = new Set(precisions);
  const coarsest = Math.min(...precisions);
  const open = new Map<number, WholeTile>();

  function* finish(tile: WholeTile): Generator<AnonymousTile> {
    if (wanted.has(tile.precision)) yield anonymous(tile);
    const precision = tile.precision - 1;
    if (precision < coarsest) return;
    // Children follow each other, so a tile is finished when there is a child of another one.
    let above = open.get(precision);
    const geohash = tile.geohash.slice(0, -1);
    if (above?.geohash !== geohash) {
      if (above !== undefined) yield* finish(above);
      above = emptyTile(precision, geohash, tile.hours);
      open.set(precision, above);
    }
    addParents(above, tile, limits);
  }

  let before: CountedTile | undefined;
  for await (const tile of day.tiles) {
    if (before !== undefined) refuseAfter(before, tile);
    before = tile;
    yield* finish(finestTile(tile, day.precision, threshold));
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

/** A tile all cells of which below it were seen, or are being added. */
interface WholeTile {
  readonly precision: number;
  readonly geohash: string;
  readonly coverage: Uint8Array;
  /** Of each cell, the area of what is covered of it, in km². */
  readonly areas: Float64Array;
  readonly hours: readonly (WholeHour | undefined)[];
}

/** The people that go upwards: the published ones, but the counted ones of low cells. */
interface WholeHour extends CountedHour {
  /** 1 for a low cell. */
  readonly low: Uint8Array;
}

function finestTile(
  { geohash, coverage, hours }: CountedTile,
  precision: number,
  threshold: number,
): WholeTile {
  const areas = new Float64Array(cellsPerTile);
  const firstRow = cellOf(geohash).row * tileSide;
  const { rows, columns } = gridOf(precision);
  for (let row = 0; row < Math.min(tileSide, rows); row++) {
    const area = rowArea(firstRow + row, precision);
    for (let column = 0; column < Math.min(tileSide, columns); column++) {
      areas[codeAt(row, column, precision)] = area;
    }
  }
  return {
    precision,
    geohash,
    coverage,
    areas,
    hours: hours.map((hour) => hour && { ...hour, low: lowCells(hour.people, threshold) }),
  };
}

function lowCells(people: Float64Array, threshold: number): Uint8Array {
  const low = new Uint8Array(cellsPerTile);
  for (let cell = 0; cell < cellsPerTile; cell++) low[cell] = at(people, cell) < threshold ? 1 : 0;
  return low;
}

function emptyTile(precision: number, geohash: string, alike: WholeTile["hours"]): WholeTile {
  return {
    precision,
    geohash,
    coverage: new Uint8Array(coverageBytes),
    areas: new Float64Array(cellsPerTile),
    hours: alike.map(
      (hour) =>
        hour && {
          people: new Float64Array(cellsPerTile),
          least: new Float64Array(cellsPerTile),
          greatest: new Float64Array(cellsPerTile),
          low: new Uint8Array(cellsPerTile),
        },
    ),
  };
}

/** What makes a cell low. */
interface Limits {
  /** A low cell has fewer people. */
  readonly threshold: number;
  /** A low cell has no more people than this if they are whole ones that were counted. */
  readonly most: number;
}

/** Cells of a tile that have all but the last character in common: the children of one cell. */
const cellsPerParent = 32;

const characters = suffixesOf(1);

/** Adds the parents of a tile's cells to the tile they are in, all of them as a tile has all children of each. */
function addParents(above: WholeTile, tile: WholeTile, limits: Limits): void {
  const first = above.precision === 1 ? 0 : characters.indexOf(tile.geohash.slice(-1)) * cellsPerParent;
  for (let index = 0; index < cellsPerTile / cellsPerParent; index++) {
    const children = childrenOf(tile.coverage, index);
    if (children.length === 0) continue;
    const parent = first + index;
    addToCoverage(above.coverage, parent);
    above.areas[parent] = children.reduce((area, child) => area + at(tile.areas, child), 0);
    for (const [hour, to] of above.hours.entries()) {
      const from = tile.hours[hour];
      if (to !== undefined && from !== undefined) setParent(to, parent, from, children, limits);
    }
  }
}

function childrenOf(coverage: Uint8Array, parent: number): number[] {
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
  limits: Limits,
): void {
  const [group, others] = [nobody(), nobody()];
  let low = 0;
  for (const child of children) {
    const isLow = from.low[child] === 1;
    const sum = isLow ? group : others;
    sum.people += at(from.people, child);
    sum.least += at(from.least, child);
    sum.greatest += at(from.greatest, child);
    if (isLow) low++;
  }
  const isLow = low === children.length && group.people < limits.threshold;
  const told = isLow || low === 0 ? group : toldOf(group, low, limits);
  to.people[parent] = others.people + told.people;
  to.least[parent] = others.least + told.least;
  to.greatest[parent] = others.greatest + told.greatest;
  to.low[parent] = isLow ? 1 : 0;
}

/** People with their range. */
interface Estimate {
  people: number;
  least: number;
  greatest: number;
}

function nobody(): Estimate {
  return { people: 0, least: 0, greatest: 0 };
}

/** What a group of low cells counts as: b, c and d above. */
function toldOf(
  { people, least, greatest }: Readonly<Estimate>,
  cells: number,
  { threshold, most }: Limits,
): Readonly<Estimate> {
  const harmless = (cells - 1) * most;
  if (people < threshold) return middleOf(0, threshold);
  if (people > harmless) return middleOf(Math.max(threshold, harmless), cells * threshold);
  return {
    people,
    least: Math.floor(Math.min(least, people) / threshold) * threshold,
    greatest: Math.ceil(Math.max(greatest, people) / threshold) * threshold,
  };
}

function middleOf(least: number, greatest: number): Readonly<Estimate> {
  return { people: (least + greatest) / 2, least, greatest };
}

function anonymous({ precision, geohash, coverage, areas, hours }: WholeTile): AnonymousTile {
  const cells = Array.from({ length: cellsPerTile }, (_, cell) => cell).filter((cell) =>
    isCovered(coverage, cell),
  );
  return {
    precision,
    geohash,
    coverage,
    hours: hours.map((hour) => hour && anonymousHour(hour, cells, areas)),
  };
}

function anonymousHour(
  { people, least, greatest, low }: WholeHour,
  cells: readonly number[],
  areas: Float64Array,
): TileHour {
  const anonymous = new TileHour();
  for (const cell of cells) {
    if (low[cell] === 1) anonymous.setLow(cell);
    else {
      const area = at(areas, cell);
      const density = densityOf(at(people, cell), area);
      // Sums of different numbers are rounded differently.
      const minimum = Math.min(densityOf(at(least, cell), area), density);
      anonymous.setEstimate(cell, density, minimum, Math.max(densityOf(at(greatest, cell), area), density));
    }
  }
  return anonymous;
}

/** In people per km², but never more than a slot can hold. */
function densityOf(people: number, area: number): number {
  return Math.min(people / area, greatestDensity);
}

function at(numbers: Float64Array, cell: number): number {
  return numbers[cell] ?? Number.NaN;
}
