import { expect, test } from "vitest";
import { type Area, boxArea } from "../../../console/data/area.ts";
import type { City } from "../../../console/data/regions.ts";
import { districtOf, examplesIn } from "../../../console/request/examples.ts";
import { fileName, placeName, placesName } from "../../../console/request/place-name.ts";
import { coverageOfBoxes } from "../../support/coverage.ts";

const city = (name: string, people: number, longitude: number, latitude: number): City => ({
  name,
  people,
  longitude,
  latitude,
});
const cities = [
  city("Lyon", 520_000, 4.835, 45.764),
  city("Villeurbanne", 150_000, 4.88, 45.77),
  city("Tromsø", 52_000, 18.96, 69.65),
  city("Lambasa", 28_000, 179.38, -16.43),
];

function areaIn(west: number, south: number, east: number, north: number): Area {
  const area = boxArea({ west, south, east, north });
  if (area === undefined) throw new Error("the box is none");
  return area;
}

const lyon = areaIn(4.8, 45.7, 4.9, 45.8);
const ocean = areaIn(-30.5, -45.02, -30.48, -45);

test.each([
  ["its largest city", lyon, "Lyon"],
  ["the nearest city where it has none", areaIn(19, 69.7, 19.1, 69.8), "near Tromsø"],
  ["a city beyond the antimeridian", areaIn(179.9, -16.5, -179.8, -16.3), "near Lambasa"],
  ["its middle far from any city", ocean, "45.01 S 30.49 W"],
])("an area has the name of %s", (_, area, name) => {
  expect(placeName(area, cities)).toBe(name);
});

test("an example that is a district of the demo's city has the name of the district", () => {
  const examples = examplesIn(coverageOfBoxes({ west: 4.7, south: 45.7, east: 5, north: 45.8 }));

  expect(examples.map(({ area }) => districtOf(area))).toEqual([
    "Centre of Lyon",
    "Presqu'île",
    "Part-Dieu station",
    undefined,
    undefined,
  ]);
});

test("several areas have the name of the first, and the number of those with other names", () => {
  expect(placesName([lyon, lyon], cities)).toBe("Lyon");
  expect(placesName([lyon, ocean, lyon], cities)).toBe("Lyon and 1 more");
});

test("a file is named by place, start in UTC, hours, precision, and what tells it from others of its format", () => {
  const content = { from: new Date("2026-11-28T10:00:00Z"), hours: 24, precision: 6 };
  const named = (place: string, ending: string) => fileName(place, content, ending);

  expect(named("Presqu'île", "-by-hour.geojson")).toBe(
    "densities-presqu-ile-2026-11-28T10Z-24h-precision-6-by-hour.geojson",
  );
  expect(named("45.01 S 30.49 W", ".csv")).toBe(
    "densities-45.01-s-30.49-w-2026-11-28T10Z-24h-precision-6.csv",
  );
  expect(fileName("near Tromsø", { from: content.from, precision: 5 }, ".png")).toBe(
    "densities-near-tromso-2026-11-28T10Z-precision-5.png",
  );
});
