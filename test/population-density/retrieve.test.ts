import { beforeAll, describe, expect, test } from "vitest";
import { retrievePopulationDensity } from "../../functions/population-density/contract.ts";
import { dayOf } from "../../shared/calendar.ts";
import { exampleBoundary, hourFromNow, hoursToCome } from "../support/areas.ts";
import { call, tokenWith } from "../support/client.ts";
import { useTables } from "../support/database.ts";
import { boxIn, cellIn, freshTile, type Slot, storeTile } from "../support/densities.ts";

// What no event of `events/population-density/` shows, whose answers are recorded.

const path = "/populationdensitydata/retrieve";
const alias = "/population-density-data/v0.3/retrieve";

function requestOf(boundary: unknown, changes: Readonly<Record<string, unknown>> = {}) {
  return {
    area: { areaType: "POLYGON", boundary },
    ...hoursToCome(),
    ...changes,
  };
}

async function retrieve(body: unknown, { at = path, headers = {} } = {}) {
  const token = await tokenWith({ scope: "population-density-data:read" });
  return await call(at, { method: "POST", body, token, headers });
}

/** The cells of each hour in the answer to a request for a box in a tile, and the basis of the numbers. */
async function cellsIn(tile: string, from: [number, number], to: [number, number], changes = {}) {
  const { status, body, headers } = await retrieve(requestOf(boxIn(tile, from, to), changes));
  expect(status).toBe(200);
  const { timedPopulationDensityData } = retrievePopulationDensity.responses[200].parse(body);
  const hours = timedPopulationDensityData.map(({ cellPopulationDensityData }) => cellPopulationDensityData);
  return { hours, basis: headers.get("x-density-basis") };
}

/** Stores the same slots for every weekday. */
async function storeWeek(tile: string, slots: ReadonlyMap<number, Slot>): Promise<void> {
  const days = Array.from({ length: 7 }, (_, index) => `week#${index + 1}`);
  await Promise.all(days.map((day) => storeTile(tile, day, slots)));
}

/** All cells of a tile. */
const everywhere = (slot: Slot) => new Map(Array.from({ length: 1_024 }, (_, cell) => [cell, slot]));

beforeAll(useTables);

describe("200", () => {
  test("POST /retrieve returns the stored numbers cell by cell", async () => {
    const tile = freshTile();
    const slots = everywhere(500).set(cellIn(3, 4), 1_234).set(cellIn(3, 5), "low");
    await storeWeek(tile, slots);

    const [cells = []] = (await cellsIn(tile, [3, 4], [3.4, 6])).hours;

    expect(cells.map(({ geohash }) => geohash)).toEqual(cells.map(({ geohash }) => geohash).sort());
    expect(cells.map(({ geohash: _, ...numbers }) => numbers)).toEqual(
      expect.arrayContaining([
        { dataType: "DENSITY_ESTIMATION", pplDensity: 1_234, minPplDensity: 1_234, maxPplDensity: 1_234 },
        { dataType: "LOW_DENSITY" },
        { dataType: "DENSITY_ESTIMATION", pplDensity: 500, minPplDensity: 500, maxPplDensity: 500 },
      ]),
    );
    expect(cells).toHaveLength(3);
  });

  test("POST /retrieve returns the observed hour if there is one, else that of the typical weekday", async () => {
    const tile = freshTile();
    await storeWeek(tile, everywhere(100));
    const [start, later, end] = [hourFromNow(-30), hourFromNow(-29), hourFromNow(-28)];
    await storeTile(tile, `day#${dayOf(start)}`, everywhere(200), [start.getUTCHours()]);
    const densityFrom = async (startTime: Date, endTime: Date) => {
      const { basis, hours } = await cellsIn(tile, [1, 1], [1.2, 1.2], { startTime, endTime });
      return [basis, ...hours.map(([cell]) => cell?.pplDensity)];
    };
    expect(await densityFrom(start, end)).toEqual(["OBSERVED;hours=1, TYPICAL;hours=1", 200, 100]);
    expect(await densityFrom(later, end)).toEqual(["TYPICAL;hours=1", 100]);
    expect(await densityFrom(hourFromNow(2), hourFromNow(3))).toEqual(["TYPICAL;hours=1", 100]);
  });

  test("POST /retrieve answers AREA_NOT_SUPPORTED as CSV to a caller who prefers CSV, and its Vary names Accept", async () => {
    const headers = { accept: "text/csv;q=0.9, application/json;q=0.8" };
    const inTheSea = exampleBoundary.map(({ latitude, longitude }) => ({ latitude: -latitude, longitude }));
    const response = await retrieve(requestOf(inTheSea), { headers });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/csv; charset=utf-8; header=present",
      vary: expect.stringMatching(/^accept, accept-encoding\b/),
      "x-area-status": "AREA_NOT_SUPPORTED",
    });
  });
});

test("POST /retrieve returns 400 and 422 before 406", async () => {
  const headers = { accept: "application/xml" };
  for (const [precision, status] of [
    [13, 400],
    [12, 422],
    [7, 406],
  ])
    expect(await retrieve(requestOf(exampleBoundary, { precision }), { headers })).toMatchObject({ status });
});

describe("400", () => {
  test.each<[string, unknown, string]>([
    ["a password", { credentialType: "PLAIN", identifier: "a", secret: "b" }, "INVALID_CREDENTIAL"],
    ["a refresh token", { credentialType: "REFRESHTOKEN" }, "INVALID_CREDENTIAL"],
    ["no type", { accessToken: "abc" }, "INVALID_ARGUMENT"],
    ["a token of another type", { credentialType: "ACCESSTOKEN", accessTokenType: "mac" }, "INVALID_TOKEN"],
    ["a token that is no text", { credentialType: "ACCESSTOKEN", accessToken: 5 }, "INVALID_ARGUMENT"],
    ["a line break", { credentialType: "ACCESSTOKEN", accessToken: "a\r\nb" }, "INVALID_ARGUMENT"],
    ["no expiry", { credentialType: "ACCESSTOKEN", accessTokenExpiresUtc: "soon" }, "INVALID_ARGUMENT"],
    ["both wrong", { credentialType: "PLAIN", accessTokenType: "mac" }, "INVALID_CREDENTIAL"],
  ])("POST /retrieve without a sink refuses a credential with %s", async (_, sinkCredential, code) => {
    const answer = await retrieve(requestOf(exampleBoundary, { sinkCredential }));
    expect(answer).toMatchObject({ status: 400, body: { code } });
  });

  test.each(["accessToken", "accessTokenExpiresUtc", "accessTokenType"])(
    "the alias of POST /retrieve refuses a credential without %s",
    async (missing) => {
      const whole = {
        credentialType: "ACCESSTOKEN",
        accessToken: "abc",
        accessTokenExpiresUtc: hourFromNow(2).toISOString(),
        accessTokenType: "BEARER",
      };
      const sent = (sinkCredential: object, at: string) =>
        retrieve(requestOf(exampleBoundary, { sinkCredential }), { at });
      expect(await sent({ ...whole, [missing]: undefined }, alias)).toMatchObject({
        status: 400,
        body: { code: "INVALID_ARGUMENT", message: `sinkCredential.${missing} is missing.` },
      });
      expect(await sent(whole, alias)).toMatchObject({ status: 200 });
      expect(await sent({ ...whole, [missing]: undefined }, path)).toMatchObject({ status: 200 });
    },
  );
});
