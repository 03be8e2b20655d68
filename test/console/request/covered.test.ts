import { expect, test } from "vitest";
import { boxArea } from "../../../console/request/area.ts";
import { swapped, touchesCoverage } from "../../../console/request/covered.ts";
import { coverageOfBoxes } from "../../support/coverage.ts";

const lyon = coverageOfBoxes({ west: 4.8, south: 45.7, east: 4.9, north: 45.8 }) ?? {
  bbox: [],
  coordinates: [],
};
const boxOf = (west: number, south: number, east: number, north: number) =>
  boxArea({ west, south, east, north })?.boundary ?? [];

test.each([
  [true, "within it", boxOf(4.82, 45.72, 4.84, 45.74)],
  [true, "around it", boxOf(4, 45, 6, 47)],
  [true, "that crosses it without a corner in it", boxOf(4.7, 45.74, 5, 45.76)],
  [false, "next to it", boxOf(4.91, 45.7, 4.95, 45.8)],
  [false, "with latitude and longitude exchanged", swapped(boxOf(4.82, 45.72, 4.84, 45.74)) ?? []],
])("coverage: %s for an area %s", (expected, _, ring) => {
  expect(touchesCoverage(ring, lyon)).toBe(expected);
});

test("coverage: an area with exchanged coordinates is covered once they are exchanged again, and 120 is no latitude", () => {
  const given = swapped(boxOf(4.82, 45.72, 4.84, 45.74)) ?? [];

  expect(touchesCoverage(swapped(given) ?? [], lyon)).toBe(true);
  expect(swapped(boxOf(120, 10, 121, 11))).toBeUndefined();
});
