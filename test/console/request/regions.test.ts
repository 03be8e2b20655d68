import { expect, test } from "vitest";
import { type City, citiesNamed, regionsOf } from "../../../console/request/regions.ts";
import { coverageOfBoxes } from "../../support/coverage.ts";

const city = (name: string, people: number, longitude: number, latitude: number): City => ({
  name,
  people,
  longitude,
  latitude,
});
const cities = [
  city("Paris", 2_100_000, 2.35, 48.85),
  city("Boulogne-Billancourt", 110_000, 2.24, 48.83),
  city("Tromsø", 52_000, 18.96, 69.65),
  city("Saint-Étienne", 170_000, 4.39, 45.43),
];

test("regions have the name of their largest city, or of the nearest one, and their size, the largest first", () => {
  const coverage = coverageOfBoxes(
    { west: 19, south: 69.7, east: 19.1, north: 69.8 },
    { west: 2.2, south: 48.8, east: 2.5, north: 48.9 },
  ) ?? { bbox: [], coordinates: [] };

  const regions = regionsOf(coverage, cities);

  expect(regions.map(({ name }) => name)).toEqual(["Paris", "near Tromsø"]);
  expect(regions[0]?.squareKilometres).toBeCloseTo(33.4 * 7.33, -2);
  expect(regions[1]?.squareKilometres).toBeCloseTo(11.13 * 3.87, -1);
});

test("places are found by the beginning of any word of their names, without accents", () => {
  const found = (text: string) => citiesNamed(text, cities).map(({ name }) => name);

  expect(found("etienne")).toEqual(["Saint-Étienne"]);
  expect(found("tromso")).toEqual(["Tromsø"]);
  expect(found("TROMSØ")).toEqual(["Tromsø"]);
  expect(found("b")).toEqual(["Boulogne-Billancourt"]);
  expect(found("")).toEqual([]);
});
