import { expect, test } from "vitest";
import { areaProblem } from "../../../console/data/area.ts";
import { examplesIn } from "../../../console/request/examples.ts";
import { countCells, coverOf } from "../../../functions/population-density/cover/cover.ts";
import { polygonOf } from "../../../functions/population-density/cover/polygon.ts";
import { coverageOfBoxes } from "../../support/coverage.ts";
import { limits } from "./points.ts";

const lyon = { west: 4.8, south: 45.7, east: 4.9, north: 45.8 };
const paris = { west: 2.25, south: 48.81, east: 2.42, north: 48.9 };
const acrossAntimeridian = { west: 170, south: -40, east: -170, north: -30 };
const world = { west: -180, south: -90, east: 180, north: 90 };

const namesIn = (...boxes: (typeof lyon)[]) => examplesIn(coverageOfBoxes(...boxes)).map(({ name }) => name);

test("examplesIn returns no example before the first import", () => {
  expect(examplesIn(undefined)).toEqual([]);
});

test("examplesIn offers a district of Lyon, the middle and the whole where densities cover Lyon", () => {
  expect(namesIn(lyon)).toEqual([
    "Centre of Lyon",
    "Presqu'île",
    "Part-Dieu station",
    "Middle of what is covered",
    "All that is covered",
  ]);
});

test("examplesIn begins with 4 × 4 km of a city, with all of a smaller area, and with the middle of a larger region", () => {
  expect(namesIn(paris)).toEqual(["Middle of what is covered", "All that is covered"]);
  const [first] = examplesIn(coverageOfBoxes({ west: -51.83, south: 64.138, east: -51.62, north: 64.228 }));
  const polygon = polygonOf(first?.area.boundary ?? []);
  expect(polygon && countCells(polygon, 7)).toBeGreaterThan(1_600);
  expect(polygon && countCells(polygon, 7)).toBeLessThan(2_200);
  const island = { ...paris, east: 2.27, north: 48.83 };
  expect(namesIn(island)).toEqual(["All that is covered", "Middle of what is covered"]);
  expect(namesIn({ ...paris, east: 3 })).toEqual(["Middle of what is covered", "All that is covered"]);
});

test("the example “Middle of what is covered” is a covered area when Lyon and Paris are imported", () => {
  const coverage = coverageOfBoxes(lyon, paris);
  const examples = examplesIn(coverage);
  const middle = examples.find(({ name }) => name === "Middle of what is covered");
  const polygon = polygonOf(middle?.area.boundary ?? []);
  if (polygon === undefined) throw new Error("there is no middle");
  const covered = new Set(
    [lyon, paris].flatMap(({ west, south, east, north }) => {
      const box = polygonOf([
        { latitude: south, longitude: west },
        { latitude: south, longitude: east },
        { latitude: north, longitude: east },
        { latitude: north, longitude: west },
      ]);
      return box === undefined
        ? []
        : coverOf(box, 7).flatMap(({ geohash, cells }) => Array.from(cells, (cell) => `${geohash}/${cell}`));
    }),
  );

  const asked = coverOf(polygon, 7).flatMap(({ geohash, cells }) =>
    Array.from(cells, (cell) => `${geohash}/${cell}`),
  );
  expect(asked.length).toBeGreaterThan(100);
  expect(asked.filter((cell) => !covered.has(cell))).toEqual([]);
  expect(examples.map(({ name }) => name)).toContain("Centre of Lyon");
  expect(coverage?.coordinates).toHaveLength(2);
});

test.each([
  ["Lyon", lyon],
  ["a box across the antimeridian", acrossAntimeridian],
  ["the world", world],
])("examplesIn offers only areas that the API accepts where densities cover %s", (_, box) => {
  const problems = examplesIn(coverageOfBoxes(box)).map(({ area }) => areaProblem(area, limits));

  expect(problems.length).toBeGreaterThan(0);
  expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
});
