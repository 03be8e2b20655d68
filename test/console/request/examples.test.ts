import { expect, test } from "vitest";
import { areaProblem } from "../../../console/request/area.ts";
import { examplesIn } from "../../../console/request/examples.ts";
import { limits } from "./points.ts";

const lyon = { west: 4.8, south: 45.7, east: 4.9, north: 45.8 };
const acrossAntimeridian = { west: 170, south: -40, east: -170, north: -30 };
const halfOfTheWorld = { west: 4, south: -80, east: -70, north: 80 };
const world = { west: -180, south: -90, east: 180, north: 90 };

const namesIn = (coverage: typeof lyon) => examplesIn(coverage).map(({ name }) => name);

test("examplesIn returns no example before the first import", () => {
  expect(examplesIn(undefined)).toEqual([]);
});

test.each([
  ["Lyon", lyon],
  ["half of the world", halfOfTheWorld],
])("examplesIn offers a district of Lyon where densities cover %s", (_, coverage) => {
  expect(namesIn(coverage)).toContain("Centre of Lyon");
});

test("examplesIn offers no district of Lyon where densities begin east of it", () => {
  expect(namesIn({ ...halfOfTheWorld, west: 5 })).not.toContain("Centre of Lyon");
});

test("examplesIn offers the middle and the whole of the covered area where there is no district", () => {
  expect(namesIn(acrossAntimeridian)).toEqual(["Middle of what is covered", "All that is covered"]);
});

test.each([
  ["Lyon", lyon],
  ["a box across the antimeridian", acrossAntimeridian],
  ["half of the world", halfOfTheWorld],
  ["the world", world],
])("examplesIn offers only areas that the API accepts where densities cover %s", (_, coverage) => {
  const problems = examplesIn(coverage).map(({ area }) => areaProblem(area, limits));

  expect(problems.length).toBeGreaterThan(0);
  expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
});
