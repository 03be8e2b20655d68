import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { tableVariable } from "../../shared/table.ts";
import { hourFromNow, rectangle } from "../support/areas.ts";
import { type Harness, openHarness } from "../support/jobs.ts";
import { authorizerContext, captureOutput, eventOf } from "../support/pipeline.ts";
import { defaultSettings } from "../support/settings.ts";
import { callStreamed } from "../support/streamed.ts";

let harness: Harness;
let geometryCalls = 0;

/** Counts the calls of a module's functions, and lets them do what they do. */
async function counting(original: () => Promise<object>): Promise<object> {
  const wrapped = Object.entries(await original()).map(([name, exported]) => {
    if (typeof exported !== "function" || /^[A-Z]/.test(name)) return [name, exported];
    const call = (...given: unknown[]) => {
      geometryCalls++;
      return exported(...given);
    };
    return [name, call];
  });
  return Object.fromEntries(wrapped);
}

beforeAll(async () => {
  harness = await openHarness({ ...defaultSettings, DAILY_QUOTA: "1" });
  vi.doMock("../../functions/population-density/cover/polygon.ts", counting);
  vi.doMock("../../functions/population-density/cover/cover.ts", counting);
});
afterAll(async () => {
  vi.doUnmock("../../functions/population-density/cover/polygon.ts");
  vi.doUnmock("../../functions/population-density/cover/cover.ts");
  await harness.close();
});

const ofTables = (harness: Harness, operation: string) =>
  harness.tables.calls.filter((call) => call.operation === operation).length;

test("POST /retrieve returns 429 without reading a tile when its work exceeds the rest of the quota", async () => {
  const { handler } = await import("../../functions/population-density/retrieve.ts");
  // A row of 69 tiles on one day, or of 70 where it begins within one: 6 units besides the 1 of every request.
  const body = JSON.stringify({
    area: { areaType: "POLYGON", boundary: rectangle(0.002, 3) },
    startTime: hourFromNow(1).toISOString(),
    endTime: hourFromNow(2).toISOString(),
  });
  const authorizer = authorizerContext({ scope: "population-density-data:read" });
  const ask = async () => {
    harness.tables.calls.length = 0;
    const output = captureOutput();
    const event = eventOf({ body, authorizer });
    const { statusCode, headers } = await callStreamed(handler, event).finally(output.stop);
    return {
      statusCode,
      remaining: headers["x-ratelimit-remaining"],
      readsTiles: ofTables(harness, "BatchGetItem") > 0,
    };
  };
  vi.stubEnv("DAILY_QUOTA", "10");
  try {
    expect(await ask()).toEqual({ statusCode: 200, remaining: "3", readsTiles: true });
    expect(await ask()).toEqual({ statusCode: 429, remaining: "2", readsTiles: false });
  } finally {
    vi.stubEnv("DAILY_QUOTA", "1");
  }
});

test("POST /retrieve over quota returns 429 without computing geometry or reading a tile", async () => {
  const { handler } = await import("../../functions/population-density/retrieve.ts");
  const body = JSON.stringify({
    area: { areaType: "POLYGON", boundary: rectangle(0.1, 0.1) },
    startTime: hourFromNow(1).toISOString(),
    endTime: hourFromNow(25).toISOString(),
    precision: 6,
  });
  const authorizer = authorizerContext({ scope: "population-density-data:read" });
  const ask = async () => {
    geometryCalls = 0;
    harness.tables.calls.length = 0;
    const output = captureOutput();
    const { statusCode } = await callStreamed(handler, eventOf({ body, authorizer })).finally(output.stop);
    const tables = new Set(harness.tables.calls.map(({ parameters }) => parameters.TableName));
    return { statusCode, batches: ofTables(harness, "BatchGetItem"), tables, geometryCalls };
  };

  const served = await ask();
  const refused = await ask();

  expect(served.statusCode).toBe(200);
  expect(served.batches).toBeGreaterThan(0);
  expect(served.geometryCalls).toBeGreaterThan(0);
  expect(refused).toEqual({
    statusCode: 429,
    batches: 0,
    tables: new Set([process.env[tableVariable({ name: "quotas" })]]),
    geometryCalls: 0,
  });
});
