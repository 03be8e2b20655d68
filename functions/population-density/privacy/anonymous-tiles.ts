/**
 * Turns counted people into tiles that may be published, at every precision. Nothing about a cell with fewer counted
 * people than the threshold K can be computed from them (`suppression.ts` has the rule).
 *
 * The covered cells of a day are divided into parts, which never change once the day has been published (`parts.ts`).
 * Each part is published independently: cells of different parts are never in one group, at any precision. A part
 * covers a coarser cell if it covers any of its children. The cell's density is its people divided by the area of the
 * part's finest cells in it, and stored with the share of the cell that these are: answers are made from both.
 *
 * The errors of counts are assumed to be independent: the distance from a sum to either end of its range is the square
 * root of the sum of squares. The range of a group is the published interval of its sum, never derived from the ranges
 * of its cells in the file. These intervals are bounds rather than errors, so their widths add up: a range always
 * contains what was counted.
 */

import type { Publishing } from "../tiles/data-set.ts";
import { hoursPerDay, isCovered } from "../tiles/tile.ts";
import { cellsPerTile, maxDensity, TileHour } from "../tiles/tile-hour.ts";
import type { CountedDay, CountedTile } from "./counted.ts";
import { type Range, scaledUp } from "./market-share.ts";
import {
  cellAreas,
  finestTile,
  type HourSums,
  type ParentSums,
  type PartSums,
  type TilePart,
  TilePyramid,
  type TileSums,
  type TopTiles,
} from "./tile-pyramid.ts";

/** The publishable values of a part in a tile. */
export interface PublishedPart extends Omit<PartSums, "hours"> {
  /** The 24 hours of the day in UTC, with a value for each covered cell; undefined if the hour was not counted. */
  readonly hours: readonly (TileHour | undefined)[];
}

/** The publishable values of a tile on a day. */
export interface AnonymousTile {
  /** The length of the cells' geohashes. */
  readonly precision: number;
  /** The common prefix of its cells' geohashes: all but the last two characters; `""` at precisions 1 and 2. */
  readonly geohash: string;
  /** At least one. */
  readonly parts: readonly PublishedPart[];
}

/**
 * The rules for publishing a day: a cell with fewer counted people than the threshold is suppressed. There are no tiles
 * of precisions finer than the counted one.
 */
export interface Anonymity extends Publishing {
  /** The share of all people that are counted, above 0 and at most 1; by default 1. */
  readonly marketShare?: number | undefined;
}

/**
 * The tiles of a day at every precision that is wanted, each once, in the order in which they are finished. Holds
 * one tile per precision at most.
 * @param partsIn how the covered cells of a tile of the finest precision are divided; cells of no part are left out.
 * @param beyond where adding up ends, for a day of which only some tiles are here; by default with the coarsest wanted
 *   precision.
 * @throws RangeError for tiles that are not in order or not counted in the same hours.
 */
export async function* anonymousTiles(
  day: Pick<CountedDay, "precision" | "tiles">,
  anonymity: Anonymity,
  partsIn: (tile: CountedTile) => readonly TilePart[],
  beyond: TopTiles = { precision: Math.min(...anonymity.precisions) },
): AsyncGenerator<AnonymousTile> {
  const { threshold } = anonymity;
  const pyramid = new TilePyramid(threshold, beyond);
  const published = (tiles: Iterable<TileSums>) => selectPrecisions(tiles, anonymity, day.precision);
  let before: CountedTile | undefined;
  for await (const tile of day.tiles) {
    if (before !== undefined) refuseAfter(before, tile);
    before = tile;
    const parts = partsIn(tile);
    if (parts.length === 0) continue;
    yield* published(pyramid.add(finestTile(tile, parts, day.precision, threshold)));
  }
  yield* published(pyramid.end());
}

/**
 * The tiles of the wanted precisions above tiles whose cells' sums are given in ascending order, all of one precision,
 * as `TopTiles` got them: what `anonymousTiles` would have made of all tiles of the day at once.
 */
export async function* coarserTiles(
  sums: AsyncIterable<ParentSums>,
  anonymity: Anonymity,
): AsyncGenerator<AnonymousTile> {
  const pyramid = new TilePyramid(anonymity.threshold, { precision: Math.min(...anonymity.precisions) });
  for await (const one of sums) yield* selectPrecisions(pyramid.addSums(one), anonymity);
  yield* selectPrecisions(pyramid.end(), anonymity);
}

/** @param finest the precision of the counted cells; undefined if all tiles are coarser. */
function* selectPrecisions(
  tiles: Iterable<TileSums>,
  { precisions, marketShare = 1 }: Anonymity,
  finest?: number,
): Generator<AnonymousTile> {
  for (const tile of tiles) {
    if (!precisions.includes(tile.precision)) continue;
    const wholeAreas = tile.precision === finest ? undefined : cellAreas(tile.geohash, tile.precision);
    yield anonymous(tile, marketShare, wholeAreas);
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

function anonymous(
  { precision, geohash, parts }: TileSums,
  marketShare: number,
  wholeAreas: Float64Array | undefined,
): AnonymousTile {
  return {
    precision,
    geohash,
    parts: parts.map(({ part, coverage, areas, bounds, hours }) => {
      const cells = Array.from({ length: cellsPerTile }, (_, cell) => cell).filter((cell) =>
        isCovered(coverage, cell),
      );
      const published = hours.map((hour) => {
        const anonymousOne = hour && anonymousHour(hour, cells, areas, marketShare);
        if (anonymousOne !== undefined && wholeAreas !== undefined) {
          for (const cell of cells) anonymousOne.setShare(cell, at(areas, cell) / at(wholeAreas, cell));
        }
        return anonymousOne;
      });
      return { part, coverage, areas, bounds, hours: published };
    }),
  };
}

function anonymousHour(
  { people, min, max, half, suppressed }: HourSums,
  cells: readonly number[],
  areas: Float64Array,
  marketShare: number,
): TileHour {
  const anonymous = new TileHour();
  for (const cell of cells) {
    if (suppressed[cell] === 1) anonymous.setSuppressed(cell);
    else {
      const counted = { people: at(people, cell), min: at(min, cell), max: at(max, cell) };
      const range = scaledUp(counted, marketShare, at(half, cell));
      setPeople(anonymous, cell, range, at(areas, cell));
    }
  }
  return anonymous;
}

/** Stores people and their range as a density, limited to the maximum of a slot. */
export function setPeople(hour: TileHour, cell: number, range: Range, area: number): void {
  const density = densityOf(range.people, area);
  // Rounding errors of the sums may differ.
  const minimum = Math.max(0, Math.min(densityOf(range.min, area), density));
  hour.setEstimate(cell, density, minimum, Math.max(densityOf(range.max, area), density));
}

function densityOf(people: number, area: number): number {
  return Math.min(people / area, maxDensity);
}

function at(numbers: Float64Array, cell: number): number {
  return numbers[cell] ?? Number.NaN;
}
