import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { answerTo } from "../../../functions/population-density/answer/answer-to.ts";
import { storeDay } from "../../../functions/population-density/import/publish/store-days.ts";
import { parseDensityRequest } from "../../../functions/population-density/query/parse.ts";
import { coverageBytes } from "../../../functions/population-density/tiles/tile.ts";
import { cellsPerTile } from "../../../functions/population-density/tiles/tile-hour.ts";
import { type MeteredDatabase, openMeteredDatabase } from "../../../tools/bench/metered-database.ts";
import { useOwnDensityTables, useTables } from "../../support/database.ts";
import { boxIn, freshTile } from "../../support/densities.ts";
import { sharedService } from "../../support/service.ts";
import { dayOf, finest, signal, stored } from "../../support/stored-days.ts";

let counting: MeteredDatabase;
beforeAll(async () => {
  useTables();
  counting = await openMeteredDatabase(sharedService.databaseEndpoint);
  process.env.AWS_ENDPOINT_URL_DYNAMODB = counting.url;
});
beforeEach(async () => {
  await useOwnDensityTables();
});
afterAll(() => counting.close());

/** 2026-11-20 is a Friday. */
const [friday, saturday, now] = ["2026-11-20", "2026-11-21", new Date("2026-11-22T12:30:00Z")];

/** A tile in which every cell has another number of people in each hour, so that its days are as long as a city's. */
function crowded(geohash: string) {
  const hours = Array.from({ length: 24 }, (_, hour) => {
    const people = Float64Array.from(
      { length: cellsPerTile },
      (_, cell) => 30 + ((cell * 7_919 + hour * 104_729) % 1_009),
    );
    return {
      people,
      min: people.map((each) => each - Math.sqrt(each)),
      max: people.map((each) => each + Math.sqrt(each)),
    };
  });
  return { geohash, coverage: new Uint8Array(coverageBytes).fill(0xff), hours };
}

async function storeCrowded(kind: "observed" | "typical"): Promise<string> {
  const tile = freshTile();
  await storeDay(dayOf(friday, crowded(tile)), { ...finest, kind, threshold: 10 });
  return tile;
}

/** The read units that an answer about the whole tile takes. */
async function unitsOf(tile: string, startTime: string, endTime: string): Promise<number> {
  const area = { boundary: boxIn(tile, [0, 0], [31, 31]) };
  const query = parseDensityRequest({ area, startTime, endTime, precision: 7 }, now);
  if ("code" in query) throw new Error(query.code);
  counting.taken();
  const answer = await answerTo(query, signal());
  expect(answer.status).toBe("SUPPORTED_AREA");
  return counting.taken().reads;
}

test("an observed hour of a crowded tile takes at most 4 read units", async () => {
  const tile = await storeCrowded("observed");
  expect((await stored(tile, `day#${friday}`))?.hours.length).toBeGreaterThan(75_000);

  for (const hour of ["00", "07", "15", "23"]) {
    const [start, end] = [`${friday}T${hour}:00:00Z`, `${friday}T${hour}:59:00Z`];
    expect(await unitsOf(tile, start, end)).toBeLessThanOrEqual(4);
  }
});

test("a typical hour of a crowded tile takes at most 4 read units, past or to come", async () => {
  const tile = await storeCrowded("typical");

  expect(await unitsOf(tile, `${friday}T07:00:00Z`, `${friday}T08:00:00Z`)).toBeLessThanOrEqual(4);
  expect(await unitsOf(tile, "2026-11-27T07:00:00Z", "2026-11-27T08:00:00Z")).toBeLessThanOrEqual(4);
});

test("an observed day of a crowded tile takes fewer read units than the day and its weekday", async () => {
  const tile = await storeCrowded("observed");

  // Half a unit is the data set, which a function reads once a minute.
  expect(await unitsOf(tile, `${friday}T00:00:00Z`, `${saturday}T00:00:00Z`)).toBeLessThanOrEqual(12.5);
});
