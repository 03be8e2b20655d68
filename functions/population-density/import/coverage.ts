import { ImportError } from "../../../shared/import/import-error.ts";
import { countCells, coverOf } from "../cover/cover.ts";
import type { Polygon } from "../cover/polygon.ts";
import { addToCoverage, coverageBytes } from "../tiles/tile.ts";

/** Where people are counted: all that is in any of the polygons. */
export interface CoveredArea {
  /** The name of the file it was read from. */
  readonly file: string;
  readonly polygons: readonly Polygon[];
}

/** Upper bound of the cells listed for one polygon, about three million square kilometres at precision 7. */
const maxCells = 2 ** 27;

/**
 * The cells that share area with any of an area's polygons: for each tile that has one, by its geohash, a coverage as
 * `encodeTileDay` takes it.
 * @param precision from 2 to 12.
 * @throws {ImportError} for a polygon of more than `maxCells` cells.
 */
export function coverageAt({ file, polygons }: CoveredArea, precision: number): Map<string, Uint8Array> {
  const coverages = new Map<string, Uint8Array>();
  for (const polygon of polygons) {
    if (countCells(polygon, precision, maxCells) > maxCells) {
      throw new ImportError([`${file}: a polygon has more than ${maxCells} cells of precision ${precision}`]);
    }
    for (const { geohash, cells } of coverOf(polygon, precision)) {
      const coverage = coverages.get(geohash) ?? new Uint8Array(coverageBytes);
      for (const cell of cells) addToCoverage(coverage, cell);
      coverages.set(geohash, coverage);
    }
  }
  return coverages;
}
