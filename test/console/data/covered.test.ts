import { describe, expect, test } from "vitest";
import { boxArea } from "../../../console/data/area.ts";
import { qualityIn, swapped, touchesCoverage } from "../../../console/data/covered.ts";
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

test.each([
  [true, "across the antimeridian next to Fiji's east", boxOf(179.9, -17, -179.7, -16.9)],
  [true, "of 182 degrees of longitude, as GeoJSON has it", boxOf(179.9, -17, 180.3, -16.9)],
  [false, "across the antimeridian in the north", boxOf(179.9, 45.72, -179.7, 45.74)],
])("coverage on both sides of the antimeridian: %s for an area %s", (expected, _, ring) => {
  const fiji = coverageOfBoxes({ west: -180, south: -18, east: -179.8, north: -16 });

  expect(touchesCoverage(ring, fiji ?? never())).toBe(expected);
});

test("coverage: an area with exchanged coordinates is covered once they are exchanged again, and 120 is no latitude", () => {
  const given = swapped(boxOf(4.82, 45.72, 4.84, 45.74)) ?? [];

  expect(touchesCoverage(swapped(given) ?? [], lyon)).toBe(true);
  expect(swapped(boxOf(120, 10, 121, 11))).toBeUndefined();
});

describe("the error of typical hours", () => {
  const here = boxArea({ west: 4.82, south: 45.72, east: 4.84, north: 45.74 }) ?? never();
  const elsewhere = boxArea({ west: 10.7, south: 59.9, east: 10.8, north: 60 }) ?? never();
  const fiji = boxArea({ west: -179.9, south: -17, east: -179.8, north: -16.9 }) ?? never();
  const inLyon = [4.8, 45.7, 4.9, 45.8];
  const measured = (...regions: number[][]) => ({
    precision: 7,
    days: 3,
    withinRange: 1,
    wape: 0.1,
    regions,
  });

  test.each([
    ["told", "within a measured region", [here], [inLyon]],
    ["told", "across the antimeridian of a measured region", [fiji], [[179.5, -18, -179.5, -16]]],
    ["elsewhere", "of which one is in no measured region", [here, elsewhere], [inLyon]],
    [
      "elsewhere",
      "on the other side of the world from a region across the antimeridian",
      [here],
      [[179, 40, -179, 50]],
    ],
    [undefined, "when no region was recorded", [here], []],
  ])("is %s for areas %s", (expected, _, areas, regions) => {
    const quality = measured(...regions);
    expect(qualityIn({ areas, precision: 7 }, [quality])).toBe(expected === "told" ? quality : expected);
  });

  test("is told of the precision that is asked for alone", () => {
    expect(qualityIn({ areas: [here], precision: 6 }, [measured(inLyon)])).toBeUndefined();
  });
});

function never(): never {
  throw new Error("no area");
}
