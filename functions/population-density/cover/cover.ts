import { Band } from "./band.ts";
import { type Grid, geohashAt, gridOf, suffixesOf, tileSide } from "./geohash.ts";
import type { Polygon } from "./polygon.ts";
import { Runs } from "./runs.ts";

/** The cells of a cover that have all but the last two characters in common. */
export interface Tile {
  /** What the cells have in common; `""` at precisions 1 and 2. */
  readonly geohash: string;
  /**
   * The last two characters of each cell as a number from 0 to 1023 (at precision 1, the only one: 0 to 31), in
   * ascending order, which is that of the geohashes. Tiles share lists: not to be written to.
   */
  readonly cells: Uint16Array;
}

/** The most cells that are counted one row at a time. */
const maxCounted = 10_000_000;

/**
 * How many cells share area with a polygon, without listing them.
 * @param precision a whole number from 1 to 12.
 * @param limit the number beyond which the count need not be exact; ten million if absent.
 * @returns the exact number if it is at most `limit`; otherwise a number above `limit`, a lower bound. The time grows
 * with the rows, but not where area, height or width alone prove more than `limit` cells.
 */
export function countCells(polygon: Polygon, precision: number, limit = maxCounted): number {
  const grid = gridOf(precision);
  const proven = minCells(polygon, grid);
  if (proven > limit) return proven;
  const runs = new Runs(polygon, grid);
  let cells = 0;
  for (let row = runs.firstRow; row <= runs.lastRow && cells <= limit; row += rowsAtOnce) {
    runs.scan(row, Math.min(row + rowsAtOnce, runs.lastRow + 1));
    const { firsts, lasts, length } = runs;
    for (let run = 0; run < length; run++) cells += (lasts[run] as number) - (firsts[run] as number) + 1;
  }
  return Math.max(cells, proven);
}

const rowsAtOnce = 64;

/** The most cells a cover may have: what one list can hold with room to spare. */
const maxListed = 2 ** 27;

/**
 * All cells of a precision that share area with a polygon, each once: tiles in geohash order. The time grows with
 * the cells and, for each row, the edges in it, but not with the polygon's bounding box.
 * @param precision a whole number from 1 to 12.
 * @throws RangeError for a polygon of more than 2^27 cells: ask `countCells` first.
 */
export function coverOf(polygon: Polygon, precision: number): readonly Tile[] {
  const grid = gridOf(precision);
  if (minCells(polygon, grid) > maxListed) throw new RangeError("too many cells to list");
  const runs = new Runs(polygon, grid);
  const band = new Band(runs.width, precision);
  const tilesAround = Math.ceil(grid.columns / tileSide);
  const firstTile = runs.columnBase / tileSide;
  const tiles: Tile[] = [];
  for (let row = 0; row <= runs.lastRow; row += tileSide) {
    runs.scan(row, row + tileSide);
    band.add(runs);
    for (const { tile, cells } of band.take()) {
      const column = (((firstTile + tile) % tilesAround) + tilesAround) % tilesAround;
      tiles.push({ geohash: geohashAt((runs.rowBase + row) / tileSide, column, precision - 2), cells });
    }
  }
  return tiles.sort((one, other) => (one.geohash < other.geohash ? -1 : 1));
}

/** The geohashes of a cover in ascending order. */
export function geohashesOf(cover: readonly Tile[], precision: number): string[] {
  const suffixes = suffixesOf(precision);
  const geohashes: string[] = new Array(cover.reduce((sum, { cells }) => sum + cells.length, 0));
  let length = 0;
  for (const { geohash, cells } of cover) {
    for (let index = 0; index < cells.length; index++) {
      geohashes[length++] = geohash + (suffixes[cells[index] as number] as string);
    }
  }
  return geohashes;
}

/** A number of cells that is proven: by the rows, the columns or the area of the polygon. */
function minCells({ latitudes, longitudes }: Polygon, { columns, cellHeight, cellWidth }: Grid): number {
  const [south, north] = [Math.min(...latitudes), Math.max(...latitudes)];
  const [west, east] = [Math.min(...longitudes), Math.max(...longitudes)];
  let doubleArea = 0;
  for (let index = 0; index < latitudes.length; index++) {
    const next = index + 1 === latitudes.length ? 0 : index + 1;
    const [x, y] = [(longitudes[index] as number) - west, (latitudes[index] as number) - south];
    doubleArea += x * ((latitudes[next] as number) - south) - ((longitudes[next] as number) - west) * y;
  }
  // Each of the terms is below width · height and rounded a few times; a longitude may have been rounded before.
  const [width, height] = [east - west, north - south];
  const error = latitudes.length * (width + 1) * (height + 1) * 2 ** -40;
  const byArea = (doubleArea / 2 - error) / (cellHeight * cellWidth);
  const byRows = height / cellHeight - 0.001;
  const byColumns = Math.min(width / cellWidth - 0.001, columns);
  return Math.max(1, Math.floor(byArea), Math.floor(byRows), Math.floor(byColumns));
}
