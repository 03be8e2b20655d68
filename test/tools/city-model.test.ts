import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { Box } from "../../functions/population-density/cover/box.ts";
import { cellOf, gridOf, suffixesOf } from "../../functions/population-density/cover/geohash.ts";
import { isCovered } from "../../functions/population-density/tiles/tile.ts";
import { cityModel } from "../../tools/import/density/city-model.ts";
import { type DrawnCity, drawnCity, populatedCentres } from "../../tools/import/density/drawn-city.ts";
import { modelDays } from "../../tools/import/density/modelled-days.ts";

const { city } = z
  .object({ city: drawnCity })
  .parse(JSON.parse(readFileSync("tools/demo/density-model.json", "utf8")));

const covered: Box = { west: 4.8, south: 45.7, east: 4.9, north: 45.8 };
/** The park of the Tête d'Or. */
const park: Box = { west: 4.85, south: 45.776, east: 4.857, north: 45.782 };
const [tuesday, friday, saturday, sunday] = ["2026-01-13", "2026-01-16", "2026-01-17", "2026-01-18"];

interface Counted {
  readonly longitude: number;
  readonly latitude: number;
  /** By UTC hour: in January an hour less than in Lyon. */
  readonly people: readonly number[];
}

let days: Promise<ReadonlyMap<string, Counted[]>> | undefined;

/** The covered area on a day, modelled once for all tests. */
async function dayOf(date: string): Promise<readonly Counted[]> {
  days ??= countedDays(city, covered, [tuesday, friday, saturday, sunday]);
  return (await days).get(date) ?? [];
}

/** A part of the city, with all people of two communes. */
const centre: DrawnCity = {
  ...city,
  communes: city.communes.filter(({ code }) => ["69381", "69386"].includes(code)),
  workplaces: city.workplaces.filter(isCentral),
  attractions: city.attractions.filter(isCentral),
  stations: city.stations.filter(isCentral),
  open: city.open.slice(0, 1),
};

function isCentral({ at: [longitude, latitude] }: DrawnCity["stations"][number]): boolean {
  return Math.abs(longitude - 4.85) < 0.03 && Math.abs(latitude - 45.77) < 0.03;
}

async function counted(of: DrawnCity, box: Box, date: string, precision: number): Promise<Counted[]> {
  return (await countedDays(of, box, [date], precision)).get(date) ?? [];
}

/** The people of each cell on each day, and where its middle is. */
async function countedDays(
  of: DrawnCity,
  box: Box,
  dates: readonly string[],
  precision = 7,
): Promise<Map<string, Counted[]>> {
  const { cellHeight, cellWidth } = gridOf(precision);
  const days = new Map<string, Counted[]>();
  for (const { date, tiles } of modelDays(box, { precision, dates, model: cityModel(of) })) {
    const cells: Counted[] = [];
    days.set(date, cells);
    for await (const { geohash, coverage, hours } of tiles) {
      for (const [cell, suffix] of suffixesOf(precision).entries()) {
        if (!isCovered(coverage, cell)) continue;
        const { row, column } = cellOf(geohash + suffix);
        cells.push({
          longitude: (column + 0.5) * cellWidth - 180,
          latitude: (row + 0.5) * cellHeight - 90,
          people: hours.map((hour) => hour?.people[cell] ?? Number.NaN),
        });
      }
    }
  }
  return days;
}

function sumOf(cells: readonly Counted[], hour: number): number {
  return cells.reduce((sum, { people }) => sum + (people[hour] ?? Number.NaN), 0);
}

function within(cells: readonly Counted[], { west, south, east, north }: Box): Counted[] {
  return cells.filter(
    ({ longitude, latitude }) => longitude > west && longitude < east && latitude > south && latitude < north,
  );
}

describe("the demo city", () => {
  test("the demo city places the 519,127 people that INSEE counts in Lyon", async () => {
    const lyon = { ...city, communes: city.communes.filter(({ code }) => code.startsWith("6938")) };
    const people = (await populatedCentres(lyon)).reduce((sum, { weight }) => sum + weight, 0);
    expect(people).toBeCloseTo(519_127, 6);
  });

  test("the demo city places all people of all communes in every hour", async () => {
    const around = { west: 4.8, south: 45.72, east: 4.9, north: 45.82 };
    const cells = await counted(centre, around, tuesday, 6);
    for (const hour of [2, 7, 10, 14, 19]) {
      expect(Math.abs(sumOf(cells, hour) / (28_717 + 49_385) - 1)).toBeLessThan(0.005);
    }
  });

  test("the demo city fills built-up areas, and leaves the river, the park by night and the fields nearly empty", async () => {
    const cells = await dayOf(tuesday);
    const night = 2;
    const suppressed = (some: readonly Counted[]) =>
      some.filter(({ people }) => (people[night] ?? Number.NaN) < 10).length;
    const leftBank = within(cells, { west: 4.845, south: 45.749, east: 4.89, north: 45.77 });
    const inPark = within(cells, park);
    const river = within(cells, { west: 4.8393, south: 45.757, east: 4.8408, north: 45.767 });
    const field = within(cells, { west: 4.885, south: 45.794, east: 4.9, north: 45.8 });

    expect(leftBank.length).toBeGreaterThan(400);
    expect(suppressed(leftBank)).toBe(0);
    expect(suppressed(inPark)).toBe(inPark.length);
    expect(sumOf(inPark, 14)).toBeGreaterThan(20 * sumOf(inPark, night));
    expect(suppressed(river)).toBeGreaterThan(0);
    expect(suppressed(field)).toBe(field.length);
    // Those of rivers, parks, the port, and the fringe in the north.
    expect(suppressed(cells) / cells.length).toBeLessThan(0.15);
  });

  test("the demo city moves people to offices on weekdays, out on Friday evening and to the park on Sunday", async () => {
    const [work, out, shopping, rest] = await Promise.all([tuesday, friday, saturday, sunday].map(dayOf));
    const partDieu = { west: 4.852, south: 45.757, east: 4.861, north: 45.764 };
    const oldTown = { west: 4.824, south: 45.758, east: 4.83, north: 45.764 };
    const people = (day: readonly Counted[] = [], box: Box, hour: number) => sumOf(within(day, box), hour);
    expect(people(work, partDieu, 9)).toBeGreaterThan(2 * people(work, partDieu, 2));
    expect(people(work, partDieu, 9)).toBeGreaterThan(1.3 * people(rest, partDieu, 9));
    expect(people(out, oldTown, 19)).toBeGreaterThan(1.1 * people(work, oldTown, 19));
    expect(people(shopping, oldTown, 19)).toBeGreaterThan(1.1 * people(work, oldTown, 19));
    expect(people(rest, park, 14)).toBeGreaterThan(2 * people(work, park, 14));
  });
});

describe("a city that is not possible", () => {
  const [_commune] = city.communes;

  test("the demo city refuses a station in the middle of a lake", async () => {
    const lake = {
      name: "a lake",
      width: 5_000,
      line: [
        [4.8, 45.7],
        [4.8, 45.71],
      ],
    } as const;
    const station = { name: "Pier", at: [4.8, 45.7], radius: 100, weight: 1 } as const;
    const drowned = drawnCity.parse({ ...centre, water: [lake], stations: [station] });
    await expect(counted(drowned, covered, friday, 6)).rejects.toThrow("Pier: nobody can be there");
  });
});
