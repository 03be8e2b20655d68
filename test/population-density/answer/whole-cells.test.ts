import { readFileSync } from "node:fs";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { answerTo } from "../../../functions/population-density/answer/answer-to.ts";
import type { Box } from "../../../functions/population-density/cover/box.ts";
import { cellArea } from "../../../functions/population-density/cover/cell-area.ts";
import { suffixesOf } from "../../../functions/population-density/cover/geohash.ts";
import { storeDay } from "../../../functions/population-density/import/publish/store-days.ts";
import type { CountedTile } from "../../../functions/population-density/privacy/counted.ts";
import { parseDensityRequest } from "../../../functions/population-density/query/parse.ts";
import { polygonAround } from "../../../tools/import/density/box.ts";
import { cityModel } from "../../../tools/import/density/city-model.ts";
import { drawnCity } from "../../../tools/import/density/drawn-city.ts";
import { modelDays } from "../../../tools/import/density/modelled-days.ts";
import { useOwnDensityTables, useTables } from "../../support/database.ts";
import { sampleOf } from "../../support/sample.ts";
import { signal } from "../../support/stored-days.ts";

const { bbox, city } = z
  .object({ bbox: z.array(z.number()), city: drawnCity })
  .parse(
    JSON.parse(readFileSync(new URL("../../../tools/demo/density-model.json", import.meta.url), "utf8")),
  );
const [west = 0, south = 0, east = 0, north = 0] = bbox;
const middle = (west + east) / 2;
const precisions = [3, 4, 5, 6, 7];
const threshold = 10;

/** 2026-11-20 is a Friday, and answered from the typical one. */
const [date, now] = ["2026-11-20", new Date("2026-11-19T12:00:00Z")];

/** Stores a day of the demo city in a box. @returns the people of each hour. */
async function storeCity(box: Box): Promise<number[]> {
  const people = Array.from({ length: 24 }, () => 0);
  for (const day of modelDays([polygonAround(box)], {
    precision: 7,
    dates: [date],
    model: cityModel(city),
  })) {
    const tiles: CountedTile[] = [];
    for await (const tile of day.tiles) {
      tiles.push(tile);
      for (const [hour, counted] of tile.hours.entries()) {
        people[hour] = (people[hour] ?? 0) + (counted?.people.reduce((sum, each) => sum + each, 0) ?? 0);
      }
    }
    await storeDay({ ...day, tiles }, { kind: "typical", precisions, threshold });
  }
  return people;
}

/** Sums of density × cell area over all cells that a box around the city has, hour by hour. */
async function sumsAt(precision: number) {
  const boundary = [south - 0.01, north + 0.01].flatMap((latitude, index) =>
    (index === 0 ? [west - 0.01, east + 0.01] : [east + 0.01, west - 0.01]).map((longitude) => ({
      latitude,
      longitude,
    })),
  );
  const period = { startTime: `${date}T00:00:00Z`, endTime: `${date}T23:30:00Z` };
  const query = parseDensityRequest({ area: { boundary }, ...period, precision }, now);
  if ("code" in query) throw new Error(query.code);
  const { tiles, hours, openHour } = await answerTo(query, signal());
  return await Promise.all(
    hours.map(async (_, hour) => {
      const sums = { people: 0, min: 0, max: 0, suppressed: 0, rounding: 0 };
      for (const [index, { geohash, cells }] of tiles.entries()) {
        const opened = await openHour(index, hour);
        for (const cell of cells) {
          const area = cellArea(geohash + suffixesOf(precision)[cell]);
          if (opened?.kind(cell) === "LOW_DENSITY") sums.suppressed++;
          if (opened?.kind(cell) !== "DENSITY_ESTIMATION") continue;
          sums.people += opened.value(cell) * area;
          sums.min += opened.minimum(cell) * area;
          sums.max += opened.maximum(cell) * area;
          sums.rounding += area / 2 + (opened.value(cell) * area) / 2_048;
        }
      }
      return sums;
    }),
  );
}

beforeAll(useTables);
beforeEach(useOwnDensityTables);

describe("sums of density × area over a covered city", () => {
  const whole = { west, south, east, north };
  const halves = [
    { ...whole, east: middle },
    { ...whole, west: middle + 0.0014 },
  ];
  const ways: [string, Box[]][] = [
    ["half by half", halves],
    ["at once", [whole]],
  ];
  test.each(sampleOf(ways, 1))(
    "the sums of an answer agree with the people who were counted at precisions 3 to 7: imported %s",
    async (_, boxes) => {
      const counted = Array.from({ length: 24 }, () => 0);
      for (const box of boxes) {
        for (const [hour, people] of (await storeCity(box)).entries())
          counted[hour] = (counted[hour] ?? 0) + people;
      }

      for (const precision of precisions) {
        const sums = await sumsAt(precision);
        expect(sums).toHaveLength(24);
        for (const [hour, { people, min, max, suppressed, rounding }] of sums.entries()) {
          const all = counted[hour] ?? 0;
          const hidden = suppressed * threshold;
          const what = `precision ${precision}, hour ${hour}: ${min} to ${max} people, of ${all}`;
          expect(min, what).toBeLessThanOrEqual(all);
          expect(max + hidden, what).toBeGreaterThanOrEqual(all);
          expect(Math.abs(people - all), what).toBeLessThan(0.01 * all + hidden + rounding);
        }
      }
    },
  );
});
