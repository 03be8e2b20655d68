import { describe, expect, test } from "vitest";
import { areaOf, areaProblem, cellCount } from "../../../console/data/area.ts";
import { limits, triangle } from "../request/points.ts";

describe("areaProblem", () => {
  const tooMany = Array.from({ length: 16 }, () => triangle[0]);
  const bowtie = [
    { latitude: 0, longitude: 0 },
    { latitude: 1, longitude: 1 },
    { latitude: 1, longitude: 0 },
    { latitude: 0, longitude: 1 },
  ];

  test("areaProblem accepts a triangle", () => {
    expect(areaProblem(areaOf(triangle), limits)).toBeUndefined();
  });

  test.each([
    ["two points", triangle.slice(1), "at least 3"],
    ["16 points", tooMany, "has 16 points"],
    ["edges that cross", bowtie, "must not meet"],
    ["a latitude of 91", [{ latitude: 91, longitude: 0 }, ...triangle], "outside"],
  ])("areaProblem says why the API refuses %s", (_, points, reason) => {
    expect(areaProblem(areaOf(points), limits)).toContain(reason);
  });
});

test("cellCount counts a cell that is only partly inside the polygon", () => {
  expect(cellCount(areaOf(triangle), 3)).toBe(1);
});

test("cellCount grows by less than 32 times with each precision", () => {
  const [six, seven] = [cellCount(areaOf(triangle), 6), cellCount(areaOf(triangle), 7)];

  expect(seven).toBeGreaterThan(six);
  expect(seven).toBeLessThan(32 * six);
});
