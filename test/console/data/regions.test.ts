import { expect, test } from "vitest";
import { type City, citiesNamed, nameFor, regionsOf } from "../../../console/data/regions.ts";
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

test("the nearest city of a region may be on the other side of the antimeridian", () => {
  const [taveuni] =
    coverageOfBoxes({ west: -180, south: -16.9, east: -179.95, north: -16.7 })?.coordinates ?? [];

  expect(nameFor(taveuni ?? [], [city("Labasa", 27_000, 179.37, -16.42)])).toBe("near Labasa");
});

test("cities are found by the beginning of any word of their names, without accents, and a country is ignored", () => {
  const found = (text: string) => citiesNamed(text, cities, () => false).map(({ name }) => name);

  expect(found("etienne")).toEqual(["Saint-Étienne"]);
  expect(found("tromso")).toEqual(["Tromsø"]);
  expect(found("TROMSØ")).toEqual(["Tromsø"]);
  expect(found("b")).toEqual(["Boulogne-Billancourt"]);
  expect(found("paris, france")).toEqual(["Paris"]);
  expect(found("45.76, 4.83")).toEqual([]);
  expect(found("")).toEqual([]);
});

test("cities are found by other names and without apostrophes, and with a state or country only those that are there", () => {
  const found = (text: string) => citiesNamed(text, named, () => false).map(({ name }) => name);
  const named: City[] = [
    { ...city("Munich", 1_300_000, 11.6, 48.1), otherNames: ["München"], region: "DE" },
    { ...city("Paris", 2_100_000, 2.35, 48.85), region: "FR" },
    { ...city("N’Djamena", 700_000, 15, 12.1), region: "TD" },
    { ...city("Portland", 600_000, -122.7, 45.5), region: "US-OR" },
  ];

  expect(found("munch")).toEqual(["Munich"]);
  expect(found("Ndjamena")).toEqual(["N’Djamena"]);
  expect(found("paris, texas")).toEqual([]);
  expect(found("Portland, Oregon")).toEqual(["Portland"]);
});

test("of several cities, one of the very name comes first, then a covered one, then the largest; a part of the same name is left out", () => {
  const named = [
    city("New York City", 8_000_000, -74, 40.7),
    city("York", 150_000, -1.08, 53.96),
    city("York", 0, -1.1, 53.95),
    city("Yorkton", 16_000, -102.5, 51.2),
  ];

  const found = citiesNamed("york", named, ({ longitude }) => longitude < -100);

  expect(found.map(({ name, isCovered }) => [name, isCovered])).toEqual([
    ["York", false],
    ["Yorkton", true],
    ["New York City", false],
  ]);
});
