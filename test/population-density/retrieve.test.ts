import { beforeAll, describe, expect, test } from "vitest";
import { retrievePopulationDensity } from "../../functions/population-density/contract.ts";
import { dayOf } from "../../shared/calendar.ts";
import { exampleBoundary, hourFromNow } from "../support/areas.ts";
import { call, tokenWith } from "../support/client.ts";
import { useTables } from "../support/database.ts";
import { boxIn, cellIn, freshTile, type Slot, storeTile } from "../support/densities.ts";

const path = "/populationdensitydata/retrieve";
const alias = "/population-density-data/v0.3/retrieve";
const scope = "population-density-data:read";
const typicalDays = Array.from({ length: 7 }, (_, index) => `week#${index + 1}`);

function requestOf(boundary: unknown, changes: Readonly<Record<string, unknown>> = {}) {
  return {
    area: { areaType: "POLYGON", boundary },
    startTime: hourFromNow(1).toISOString(),
    endTime: hourFromNow(2).toISOString(),
    ...changes,
  };
}

async function retrieve(body: unknown, at = path) {
  const token = await tokenWith({ scope });
  return await call(at, { method: "POST", body, token, headers: { "x-correlator": "density-1" } });
}

/** The answer to a request, checked against the contract; anything but 200 fails. */
async function densities(body: unknown, at = path) {
  const answer = await retrieve(body, at);
  expect(answer.status).toBe(200);
  return retrievePopulationDensity.responses[200].parse(answer.body);
}

/** Stores the same slots for every weekday. */
async function storeWeek(tile: string, slots: ReadonlyMap<number, Slot>): Promise<void> {
  await Promise.all(typicalDays.map((day) => storeTile(tile, day, slots)));
}

/** All cells of a tile. */
function everywhere(slot: Slot): Map<number, Slot> {
  return new Map(Array.from({ length: 1_024 }, (_, cell) => [cell, slot]));
}

beforeAll(useTables);

describe("200", () => {
  test.each([
    [7, 9],
    [6, 2],
    [5, 1],
  ])(
    "POST /retrieve returns for the specification's polygon at precision %i its %i cells",
    async (precision, cells) => {
      const { status, timedPopulationDensityData: hours } = await densities(
        requestOf(exampleBoundary, { precision }),
      );
      expect(status).toBe("SUPPORTED_AREA");
      expect(hours).toHaveLength(1);
      const data = hours[0]?.cellPopulationDensityData ?? [];
      expect(data).toHaveLength(cells);
      expect(new Set(data.map(({ geohash }) => geohash)).size).toBe(cells);
      for (const { geohash, dataType, pplDensity = -1, minPplDensity = -1, maxPplDensity = -1 } of data) {
        expect(geohash).toHaveLength(precision);
        expect(dataType).toBe("DENSITY_ESTIMATION");
        expect(pplDensity).toBeGreaterThan(0);
        expect(minPplDensity).toBeLessThanOrEqual(pplDensity);
        expect(maxPplDensity).toBeGreaterThanOrEqual(pplDensity);
      }
    },
  );

  test("POST /retrieve covers a period of any time zone with whole hours of UTC", async () => {
    const day = dayOf(hourFromNow(48));
    const period = { startTime: `${day}T13:25:00.000+02:00`, endTime: `${day}t14:45:00.5+02:00` };
    const { timedPopulationDensityData } = await densities(requestOf(exampleBoundary, period));
    expect(timedPopulationDensityData.map(({ startTime, endTime }) => [startTime, endTime])).toEqual([
      [`${day}T11:00:00Z`, `${day}T12:00:00Z`],
      [`${day}T12:00:00Z`, `${day}T13:00:00Z`],
    ]);
  });

  test("POST /retrieve returns the stored numbers cell by cell", async () => {
    const tile = freshTile();
    const slots = everywhere(500);
    slots.set(cellIn(3, 4), 1_234);
    slots.set(cellIn(3, 5), "low");
    await storeWeek(tile, slots);
    const { status, timedPopulationDensityData } = await densities(requestOf(boxIn(tile, [3, 4], [3.4, 6])));
    const data = timedPopulationDensityData[0]?.cellPopulationDensityData ?? [];
    expect(status).toBe("SUPPORTED_AREA");
    expect(data.map(({ geohash }) => geohash)).toEqual(data.map(({ geohash }) => geohash).sort());
    const { geohash: _, ...estimate } = data.find(({ pplDensity }) => pplDensity === 1_234) ?? {
      geohash: "",
    };
    expect(estimate).toEqual({
      dataType: "DENSITY_ESTIMATION",
      pplDensity: 1_234,
      minPplDensity: 1_234,
      maxPplDensity: 1_234,
    });
    const low = data.filter(({ dataType }) => dataType === "LOW_DENSITY");
    expect(low.map((cell) => Object.keys(cell))).toEqual([["geohash", "dataType"]]);
    expect(data.map(({ pplDensity }) => pplDensity ?? 0).sort((a, b) => a - b)).toEqual([0, 500, 1_234]);
  });

  test("POST /retrieve returns NO_DATA for an uncovered cell and PART_OF_AREA_NOT_SUPPORTED", async () => {
    const tile = freshTile();
    await storeWeek(tile, new Map([[cellIn(8, 8), 700]]));
    const { status, timedPopulationDensityData } = await densities(requestOf(boxIn(tile, [8, 8], [8.4, 9])));
    expect(status).toBe("PART_OF_AREA_NOT_SUPPORTED");
    const data = timedPopulationDensityData[0]?.cellPopulationDensityData ?? [];
    expect(data.map(({ dataType }) => dataType)).toEqual(["DENSITY_ESTIMATION", "NO_DATA"]);
    expect(Object.keys(data[1] ?? {})).toEqual(["geohash", "dataType"]);
  });

  test("POST /retrieve returns AREA_NOT_SUPPORTED and an empty list for an area without a covered cell", async () => {
    const answer = await retrieve(requestOf(boxIn(freshTile(), [1, 1], [2, 2])));
    expect(answer).toMatchObject({
      status: 200,
      body: { status: "AREA_NOT_SUPPORTED", timedPopulationDensityData: [] },
    });
    expect(Object.keys(answer.body as object)).toEqual(["status", "timedPopulationDensityData"]);
  });

  test("POST /retrieve returns the observed hour if there is one, else that of the typical weekday", async () => {
    const tile = freshTile();
    await storeWeek(tile, everywhere(100));
    const [start, later] = [hourFromNow(-30), hourFromNow(-29)];
    await storeTile(tile, `day#${dayOf(start)}`, everywhere(200), [start.getUTCHours()]);
    const densityFrom = async (from: Date, to: Date) => {
      const period = { startTime: from.toISOString(), endTime: to.toISOString() };
      const { body, headers } = await retrieve(requestOf(boxIn(tile, [1, 1], [1.2, 1.2]), period));
      const { timedPopulationDensityData } = retrievePopulationDensity.responses[200].parse(body);
      const values = timedPopulationDensityData.map(
        ({ cellPopulationDensityData: [cell] }) => cell?.pplDensity,
      );
      return [headers.get("x-density-basis"), ...values];
    };
    const both = "OBSERVED;hours=1, TYPICAL;hours=1";
    expect(await densityFrom(start, hourFromNow(-28))).toEqual([both, 200, 100]);
    expect(await densityFrom(later, hourFromNow(-28))).toEqual(["TYPICAL;hours=1", 100]);
    expect(await densityFrom(hourFromNow(1), hourFromNow(2))).toEqual(["TYPICAL;hours=1", 100]);
  });
});

describe("400", () => {
  test.each<[string, unknown, string]>([
    ["a password", { credentialType: "PLAIN", identifier: "a", secret: "b" }, "INVALID_CREDENTIAL"],
    ["a refresh token", { credentialType: "REFRESHTOKEN" }, "INVALID_CREDENTIAL"],
    ["no type", { accessToken: "abc" }, "INVALID_ARGUMENT"],
    ["a token of another type", { credentialType: "ACCESSTOKEN", accessTokenType: "mac" }, "INVALID_TOKEN"],
    ["a token that is no text", { credentialType: "ACCESSTOKEN", accessToken: 5 }, "INVALID_ARGUMENT"],
    [
      "a token with a line break",
      { credentialType: "ACCESSTOKEN", accessToken: "a\r\nb" },
      "INVALID_ARGUMENT",
    ],
    [
      "an expiry that is no time",
      { credentialType: "ACCESSTOKEN", accessTokenExpiresUtc: "soon" },
      "INVALID_ARGUMENT",
    ],
    ["both wrong", { credentialType: "PLAIN", accessTokenType: "mac" }, "INVALID_CREDENTIAL"],
  ])("POST /retrieve without a sink refuses a credential with %s", async (_, sinkCredential, code) => {
    expect(await retrieve(requestOf(exampleBoundary, { sinkCredential }))).toMatchObject({
      status: 400,
      body: { code },
    });
  });

  test.each(["accessToken", "accessTokenExpiresUtc", "accessTokenType"])(
    "the alias of POST /retrieve refuses a credential without %s",
    async (missing) => {
      const whole = {
        credentialType: "ACCESSTOKEN",
        accessToken: "abc",
        accessTokenExpiresUtc: hourFromNow(1).toISOString(),
        accessTokenType: "bearer",
      };
      const sinkCredential = { ...whole, [missing]: undefined };
      expect(await retrieve(requestOf(exampleBoundary, { sinkCredential }), alias)).toMatchObject({
        status: 400,
        body: { code: "INVALID_ARGUMENT", message: `sinkCredential.${missing} is missing.` },
      });
      await densities(requestOf(exampleBoundary, { sinkCredential: whole }), alias);
    },
  );

  test("POST /retrieve ignores a good credential without a sink", async () => {
    const sinkCredential = { credentialType: "ACCESSTOKEN", accessToken: "abc", accessTokenType: "BEARER" };
    expect((await densities(requestOf(exampleBoundary, { sinkCredential }))).status).toBe("SUPPORTED_AREA");
  });
});
