import { suffixesOf } from "../cover/geohash.ts";
import { maxCells, type Outline, outlineAround } from "../cover/outline.ts";
import { type Coverage, cellsIn } from "../privacy/parts.ts";
import { childrenOf } from "../privacy/tile-pyramid.ts";

/**
 * The outline of covered cells.
 * @param precision of the cells.
 * @returns undefined if there is no cell.
 */
export function coveredOutline(coverage: Coverage, precision: number): Outline | undefined {
  const cells = cellsOf(coverage, precision);
  return cells.size === 0 ? undefined : outlineAround(cells);
}

/** Covered cells, or the coarser ones that they are in if there are many. */
function cellsOf(coverage: Coverage, precision: number): Set<string> {
  const suffixes = suffixesOf(precision);
  const cells = new Set<string>();
  for (const [tile, bits] of coverage) {
    for (const cell of cellsIn(bits)) cells.add(tile + suffixes[cell]);
    if (cells.size > maxCells && precision > 2) return parentsIn(coverage);
  }
  return cells;
}

/** One character coarser. */
function parentsIn(coverage: Coverage): Set<string> {
  const characters = suffixesOf(1);
  const parents = new Set<string>();
  for (const [tile, bits] of coverage) {
    for (const [parent, character] of characters.entries()) {
      if (childrenOf(bits, parent).length > 0) parents.add(tile + character);
    }
  }
  return parents;
}
