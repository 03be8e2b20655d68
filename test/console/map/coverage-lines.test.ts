import { expect, test } from "vitest";
import type { Position } from "../../../console/data/outlines.ts";
import { withoutCuts } from "../../../console/map/geojson.ts";

const ring = (west: number, east: number): Position[] => [
  [west, -17],
  [east, -17],
  [east, -16],
  [west, -16],
  [west, -17],
];

test("what is covered has no edge along the antimeridian, at which its polygons are cut", () => {
  expect(withoutCuts(ring(179, 180))).toEqual([
    [
      [179, -17],
      [180, -17],
    ],
    [
      [180, -16],
      [179, -16],
      [179, -17],
    ],
  ]);
  expect(withoutCuts(ring(-180, -179))).toEqual([
    [
      [-180, -17],
      [-179, -17],
      [-179, -16],
      [-180, -16],
    ],
  ]);
  expect(withoutCuts(ring(4, 5))).toEqual([ring(4, 5)]);
});
