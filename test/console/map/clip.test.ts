import { expect, test } from "vitest";
import type { Position } from "../../../console/data/outlines.ts";
import { squaresAround } from "../../../console/map/ground-grid.ts";
import { lineInSquares, ringInSquares } from "../../../tools/console/clip.ts";
import { coverageOfBoxes } from "../../support/coverage.ts";

test("ground: a ring across four squares is cut into a part for each, at their common corner", () => {
  const parts = ringInSquares(
    [
      [8, 8],
      [12, 8],
      [12, 12],
      [8, 12],
    ],
    10,
  );

  expect(parts.map(({ column, row }) => [column, row])).toEqual([
    [0, 0],
    [0, 1],
    [1, 0],
    [1, 1],
  ]);
  for (const { positions } of parts) {
    expect(positions).toHaveLength(4);
    expect(positions).toContainEqual([10, 10]);
  }
});

test("ringInSquares cuts a C-shaped ring across three squares into one part for each, with the ring's area in that square", () => {
  const parts = ringInSquares(
    [
      [2, 2],
      [28, 2],
      [28, 4],
      [6, 4],
      [6, 6],
      [28, 6],
      [28, 8],
      [2, 8],
    ],
    10,
  );

  expect(parts.map(({ column, row, positions }) => [column, row, areaOf(positions)])).toEqual([
    [0, 0, 40],
    [1, 0, 40],
    [2, 0, 32],
  ]);
});

/** The area within a ring that is given without its last position. */
function areaOf(ring: readonly Position[]): number {
  const doubled = ring.reduce((sum, [x, y], index) => {
    const [nextX, nextY] = ring[(index + 1) % ring.length] ?? [x, y];
    return sum + x * nextY - nextX * y;
  }, 0);
  return doubled / 2;
}

test("ground: a border across two squares is in both, without a gap between them", () => {
  const parts = lineInSquares(
    [
      [7, 5],
      [9, 5],
      [11, 5],
    ],
    10,
  );

  expect(parts.map(({ column, positions }) => [column, positions])).toEqual([
    [
      0,
      [
        [7, 5],
        [9, 5],
        [11, 5],
      ],
    ],
    [
      1,
      [
        [9, 5],
        [11, 5],
      ],
    ],
  ]);
});

test("ground: the squares within 60 km of Lyon are its own, and of a place at the edge of a square the next one as well, also across the antimeridian", () => {
  const around = (west: number, south: number, east: number, north: number) =>
    squaresAround(coverageOfBoxes({ west, south, east, north }) ?? { bbox: [], coordinates: [] });

  expect(around(4.8, 45.7, 4.9, 45.8)).toEqual(["1,15"]);
  expect(around(8.7, 46.1, 8.8, 46.2)).toEqual(["2,15", "3,15"]);
  expect(around(179.9, -16.8, 179.95, -16.7)).toEqual(["59,-6", "-60,-6"]);
});
