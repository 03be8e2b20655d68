import { expect, test } from "vitest";
import { type Area, boxArea } from "../../../console/data/area.ts";
import { boundsOf } from "../../../console/data/cells.ts";
import { boxOfCells } from "../../../console/data/outlines.ts";

function areaIn(west: number, south: number, east: number, north: number): Area {
  const area = boxArea({ west, south, east, north });
  if (area === undefined) throw new Error("the box is none");
  return area;
}

test("the map moves to all of the cells that an area touches, not only to the area", () => {
  const area = areaIn(4.82, 45.74, 4.84, 45.76);

  expect(boxOfCells([area], 3)).toEqual(boundsOf("u05"));
  const { west = 0, north = 0 } = boxOfCells([area], 12) ?? {};
  expect([west, north]).toEqual([expect.closeTo(4.82, 5), expect.closeTo(45.76, 5)]);
  expect(boxOfCells([], 5)).toBeUndefined();
});

test("the map moves the shorter way around the globe to areas on both sides of the antimeridian, and across it", () => {
  const sides = boxOfCells([areaIn(177, -18, 180, -16), areaIn(-180, -18, -179.5, -16)], 4);
  const across = boxOfCells([areaIn(177, -18, -179.5, -16)], 4);

  expect(sides).toEqual(across);
  expect(across?.west).toBeCloseTo(176.84, 1);
  expect(across?.east).toBeCloseTo(-179.3, 1);
});

test("the map shows the cells of an area as wide as the world up to where it has room at the poles", () => {
  const halves = [areaIn(-179, -80, -1, 80), areaIn(1, -80, 179, 80)];

  expect(boxOfCells(halves, 1)).toEqual({ west: -180, south: -85, east: 180, north: 85 });
});
