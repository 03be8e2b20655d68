import { expect, test } from "vitest";
import { edgesOf } from "../../../console/map/cell-edges.ts";
import { geohashAt, gridOf } from "../../../functions/population-density/cover/geohash.ts";

/** Cells of precision 5 by their rows and columns. */
function cells(...places: readonly (readonly [row: number, column: number])[]): string[] {
  return places.map(([row, column]) => geohashAt(row, column, 5));
}

/** How many sides of cells some lines have. */
function sidesOf(lines: readonly (readonly (readonly number[])[])[]): number {
  const { cellWidth, cellHeight } = gridOf(5);
  return lines.reduce((sum, [[x1 = 0, y1 = 0] = [], [x2 = 0, y2 = 0] = []]) => {
    return sum + Math.abs(x2 - x1) / cellWidth + Math.abs(y2 - y1) / cellHeight;
  }, 0);
}

test("map: two by two cells have six lines with twelve sides, as the side between two cells is drawn once", () => {
  const lines = edgesOf(cells([10, 20], [10, 21], [11, 20], [11, 21]));

  expect(lines).toHaveLength(6);
  expect(sidesOf(lines)).toBe(12);
});

test("map: cells that do not touch have lines of their own, and no cells have none", () => {
  const lines = edgesOf(cells([10, 20], [10, 22]));

  expect(lines).toHaveLength(8);
  expect(sidesOf(lines)).toBe(8);
  expect(edgesOf([])).toEqual([]);
});
