import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { retrieveCapabilities } from "../../../functions/population-density/capabilities/contract.ts";
import { announcedThresholds } from "../../../functions/population-density/capabilities/thresholds.ts";
import { readDataSet, recordPublishing } from "../../../functions/population-density/tiles/data-set-store.ts";
import { densities } from "../../../functions/population-density/tiles/table.ts";
import { exampleBoundary, hourFromNow } from "../../support/areas.ts";
import { call, tokenWith } from "../../support/client.ts";
import { useOwnTable, useTables } from "../../support/database.ts";

const path = "/populationdensitydata/capabilities";
const scope = "population-density-data:read";
const capabilities = retrieveCapabilities.responses[200];

async function ask(at = path) {
  return await call(at, { token: await tokenWith({ scope }) });
}

async function retrieve(changes: Readonly<Record<string, unknown>>) {
  const body = {
    area: { areaType: "POLYGON", boundary: exampleBoundary },
    startTime: hourFromNow(1).toISOString(),
    endTime: hourFromNow(2).toISOString(),
    ...changes,
  };
  return await call("/populationdensitydata/retrieve", { token: await tokenWith({ scope }), body });
}

test("GET /capabilities returns limits, threshold, coverage and sources of the demo data at both addresses", async () => {
  for (const at of [path, "/population-density-data/v0.3/capabilities"]) {
    const { status, body } = await ask(at);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      precisions: [3, 4, 5, 6, 7],
      area: { minPoints: 3, maxPoints: 15 },
      period: { maxHours: 168, monthsBack: 3, monthsAhead: 3 },
      limits: {
        synchronous: { slots: 40_000, tileDays: 600 },
        asynchronous: { slots: 2_000_000, tileDays: 2_600 },
        pendingOperations: 20,
      },
      suppressionThreshold: 10,
      suppressionThresholds: [expect.objectContaining({ threshold: 10 })],
      typicalWeek: { weeks: 4, timeZone: "Europe/Paris", holidays: [] },
      forecastQuality: [],
      provenance: expect.arrayContaining([
        { source: expect.stringContaining("INSEE"), licence: "etalab-2.0" },
        { source: expect.stringContaining("GeoNames"), licence: "CC-BY-4.0" },
      ]),
    });
    expect(capabilities.parse(body).coverage).toBeDefined();
  }
});

test("GET /capabilities lists exactly the precisions that POST /retrieve accepts", async () => {
  const { precisions } = capabilities.parse((await ask()).body);
  for (let precision = 1; precision <= 12; precision++) {
    const { body } = await retrieve({ precision });
    const { code } = z.object({ code: z.string().optional() }).parse(body);
    const isRefused = code === "POPULATION_DENSITY_DATA.UNSUPPORTED_PRECISION";
    expect([precision, isRefused]).toEqual([precision, !precisions.includes(precision)]);
  }
});

describe("K is announced as it holds for what is stored", () => {
  beforeEach(async () => {
    useTables();
    await useOwnTable(densities);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });
  const precisions = [7];

  test("the announced K is that of the functions before the first import", async () => {
    expect(await announcedBy("20")).toEqual({ suppressionThreshold: 20, suppressionThresholds: [] });
  });

  test("the announced K is 10, with the day until which it was used, after it was raised to 20", async () => {
    await recordPublishing({ threshold: 10, precisions }, "2026-11-14");
    await recordPublishing({ threshold: 20, precisions }, "2026-11-21");
    expect(await announcedBy("20")).toEqual({
      suppressionThreshold: 10,
      suppressionThresholds: [
        { threshold: 10, newestObservedDay: "2026-11-14" },
        { threshold: 20, newestObservedDay: "2026-11-21" },
      ],
    });
  });

  test("the announced K is 10 when the functions have 10 and the stored densities 20", async () => {
    await recordPublishing({ threshold: 20, precisions }, undefined);
    expect(await announcedBy("10")).toEqual({
      suppressionThreshold: 10,
      suppressionThresholds: [{ threshold: 20 }],
    });
  });

  async function announcedBy(threshold: string) {
    vi.stubEnv("DENSITY_K", threshold);
    return announcedThresholds(await readDataSet(AbortSignal.timeout(60_000)));
  }
});
