import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
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
/** The park of the Tête d'Or, and offices around the station. */
const park: Box = { west: 4.85, south: 45.776, east: 4.857, north: 45.782 };
const offices: Box = { west: 4.852, south: 45.757, east: 4.861, north: 45.764 };
const [tuesday, friday, sunday] = ["2026-01-13", "2026-01-16", "2026-01-18"];

interface Counted {
  readonly longitude: number;
  readonly latitude: number;
  /** By UTC hour: in January an hour less than in Lyon. */
  readonly people: readonly number[];
}

/** The cells of a box on a day. */
async function counted(of: DrawnCity, box: Box, date: string, precision = 7): Promise<Counted[]> {
  const { cellHeight, cellWidth } = gridOf(precision);
  const cells: Counted[] = [];
  for (const { tiles } of modelDays(box, { precision, dates: [date], model: cityModel(of) })) {
    for await (const { geohash, coverage, hours } of tiles) {
      for (const [cell, suffix] of suffixesOf(precision).entries()) {
        if (!isCovered(coverage, cell)) continue;
        const { row, column } = cellOf(geohash + suffix);
        const [longitude, latitude] = [(column + 0.5) * cellWidth - 180, (row + 0.5) * cellHeight - 90];
        cells.push({ longitude, latitude, people: hours.map((hour) => hour?.people[cell] ?? Number.NaN) });
      }
    }
  }
  return cells;
}

function sumOf(cells: readonly Counted[], hour: number): number {
  return cells.reduce((sum, { people }) => sum + (people[hour] ?? Number.NaN), 0);
}

function within(cells: readonly Counted[], { west, south, east, north }: Box): Counted[] {
  return cells.filter(
    ({ longitude, latitude }) => longitude > west && longitude < east && latitude > south && latitude < north,
  );
}

/** A part of the city, with all people of two communes. */
const isCentral = ({ at: [longitude, latitude] }: DrawnCity["stations"][number]) =>
  Math.abs(longitude - 4.85) < 0.03 && Math.abs(latitude - 45.77) < 0.03;
const centre: DrawnCity = {
  ...city,
  communes: city.communes.filter(({ code }) => ["69381", "69386"].includes(code)),
  workplaces: city.workplaces.filter(isCentral),
  attractions: city.attractions.filter(isCentral),
  stations: city.stations.filter(isCentral),
  open: city.open.slice(0, 1),
};

test("the demo city places all of the 78,102 people that INSEE counts in two communes in every hour", async () => {
  const all = (await populatedCentres(centre)).reduce((sum, { weight }) => sum + weight, 0);
  expect(all).toBeCloseTo(78_102, 6);
  const cells = await counted(centre, { west: 4.8, south: 45.72, east: 4.9, north: 45.82 }, tuesday, 6);
  for (const hour of [2, 7, 10, 14, 19]) {
    expect(Math.abs(sumOf(cells, hour) / all - 1)).toBeLessThan(0.005);
  }
});

test("the demo city leaves the river and the park by night nearly empty, and moves people by day", async () => {
  const cells = await counted(city, covered, tuesday);
  const [night, morning] = [2, 9];
  const river = within(cells, { west: 4.8393, south: 45.757, east: 4.8408, north: 45.767 });
  const suppressed = ({ people }: Counted) => (people[night] ?? Number.NaN) < 10;
  expect(river.filter(suppressed).length).toBeGreaterThan(0);
  expect(within(cells, park).every(suppressed)).toBe(true);
  // Those of rivers, parks, the port, and the fringe in the north.
  expect(cells.filter(suppressed).length / cells.length).toBeLessThan(0.15);
  const inOffices = within(cells, offices);
  expect(sumOf(inOffices, morning)).toBeGreaterThan(2 * sumOf(inOffices, night));
  const [rest, workday] = [await counted(city, park, sunday), await counted(city, park, tuesday)];
  expect(sumOf(rest, 14)).toBeGreaterThan(2 * sumOf(workday, 14));
});

test("the demo city refuses a station in the middle of a lake", async () => {
  const lake = {
    name: "a lake",
    width: 5_000,
    line: [
      [4.8, 45.7],
      [4.8, 45.71],
    ],
  };
  const station = { name: "Pier", at: [4.8, 45.7], radius: 100, weight: 1 };
  const drowned = drawnCity.parse({ ...centre, water: [lake], stations: [station] });
  await expect(counted(drowned, covered, friday, 6)).rejects.toThrow("Pier: nobody can be there");
});
