import { type Box, boxAround, boxOf, isWithin } from "../cover/box.ts";
import { suffixesOf } from "../cover/geohash.ts";
import { type Coverage, cellsIn } from "../privacy/parts.ts";

/**
 * The smallest box around covered cells, and around a box that was found before. Only tiles that reach beyond what was
 * found so far are looked at cell by cell.
 * @param precision of the cells.
 * @returns undefined if there is no cell and no box before.
 */
export function coveredBox(coverage: Coverage, precision: number, before?: Box): Box | undefined {
  let box = before;
  for (const [tile, bits] of coverage) {
    if (box !== undefined && isWithin(boxOf(tile), box)) continue;
    for (const cell of cellsIn(bits)) {
      const ofCell = boxOf(tile + suffixesOf(precision)[cell]);
      box = box === undefined ? ofCell : boxAround(box, ofCell);
    }
  }
  return box;
}
