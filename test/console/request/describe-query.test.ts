import { expect, test } from "vitest";
import { describeQuery } from "../../../console/request/describe-query.ts";
import { examplesIn } from "../../../console/request/examples.ts";
import { coverageOfBoxes } from "../../support/coverage.ts";

const examples = examplesIn(coverageOfBoxes({ west: 4.8, south: 45.7, east: 4.9, north: 45.8 }));
const [centre] = examples.map(({ area }) => area);

test("describeQuery names an example, the hours and the size of the cells", () => {
  if (centre === undefined) throw new Error("there is no example");

  expect(describeQuery({ areas: [centre], hours: 24, precision: 7 }, examples)).toBe(
    "Centre of Lyon · 24 h · 150 m",
  );
});

test("describeQuery counts several areas, and names only areas of the examples", () => {
  if (centre === undefined) throw new Error("there is no example");
  const own = { ...centre, boundary: centre.boundary.slice(1) };

  expect(describeQuery({ areas: [own], hours: 1, precision: 5 }, examples)).toBe("Own area · 1 h · 4.9 km");
  expect(describeQuery({ areas: [own, centre], hours: 1, precision: 5 }, examples)).toBe(
    "2 areas · 1 h · 4.9 km",
  );
});
