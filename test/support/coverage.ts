import { announcedCoverage } from "../../functions/population-density/capabilities/coverage.ts";
import type { Box } from "../../functions/population-density/cover/box.ts";
import { geohashAt, gridOf } from "../../functions/population-density/cover/geohash.ts";
import { maxCells, type Outline, outlineAround } from "../../functions/population-density/cover/outline.ts";
import { type DataSet, withImport } from "../../functions/population-density/tiles/data-set.ts";

/** The outline of a box whose cells of precision 7 are covered, or coarser ones of a large box. */
export function outlineOfBox({ west, south, east, north }: Box): Outline {
  for (let precision = 7; ; precision--) {
    const { rows, columns, cellHeight, cellWidth } = gridOf(precision);
    const [first, last] = [Math.floor((south + 90) / cellHeight), Math.ceil((north + 90) / cellHeight)];
    const width = (east - west + 360) % 360 || 360;
    const left = Math.floor((west + 180) / cellWidth);
    const right = Math.ceil((west + width + 180) / cellWidth);
    if (precision > 1 && (last - first) * (right - left) > maxCells) continue;
    const cells = new Set<string>();
    for (let row = first; row < Math.min(last, rows); row++) {
      for (let column = left; column < right; column++)
        cells.add(geohashAt(row, column % columns, precision));
    }
    return outlineAround(cells);
  }
}

/** What the capabilities say is covered when boxes were imported one after the other. */
export function coverageOfBoxes(...boxes: readonly Box[]) {
  const imports = boxes.map((coverage) => ({ coverage, outline: outlineOfBox(coverage) }));
  return announcedCoverage(imports.reduce<DataSet | undefined>(withImport, undefined)).coverage;
}
