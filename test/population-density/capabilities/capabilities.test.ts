import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { retrieveCapabilities } from "../../../functions/population-density/capabilities/contract.ts";
import { announcedQuality } from "../../../functions/population-density/capabilities/quality.ts";
import { announcedThresholds } from "../../../functions/population-density/capabilities/thresholds.ts";
import { readDataSet, recordPublishing } from "../../../functions/population-density/tiles/data-set-store.ts";
import { readQuality } from "../../../functions/population-density/tiles/quality-store.ts";
import { densities } from "../../../functions/population-density/tiles/table.ts";
import { type DensityImport, importDensity } from "../../../tools/import/density/import-density.ts";
import { exampleBoundary, hoursToCome } from "../../support/areas.ts";
import { call, tokenWith } from "../../support/client.ts";
import { useOwnDensityTables, useOwnTable, useTables } from "../../support/database.ts";
import { useOwnFolder } from "../../support/own-folder.ts";

const path = "/populationdensitydata/capabilities";
const scope = "population-density-data:read";
const capabilities = retrieveCapabilities.responses[200];

const folder = useOwnFolder();

async function ask(at = path) {
  return await call(at, { token: await tokenWith({ scope }) });
}

async function retrieve(changes: Readonly<Record<string, unknown>>) {
  const body = {
    area: { areaType: "POLYGON", boundary: exampleBoundary },
    ...hoursToCome(),
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

test("GET /capabilities tells the people, cells and findings of each observed day, and which stay out of typical weekdays", async () => {
  useTables();
  await useOwnDensityTables();
  const importDay = async (date: string, people: number, wanted: Partial<DensityImport> = {}) => {
    const rows = [`u0400,${date}T08:00:00Z,${people}`, `u0401,${date}T08:00:00Z,4`];
    const file = await folder.write(`${date}.csv`, ["geohash,startTime,people", ...rows].join("\n"));
    await importDensity({ files: [file], typical: false, precisions: [5], threshold: 10, ...wanted });
  };
  await importDay("2026-11-09", 1_000);
  await importDay("2026-11-16", 1_000);
  await importDay("2026-11-23", 590, { accepted: ["PEOPLE_UNUSUAL"], isExcluded: true });
  const usual = {
    hours: 1,
    people: 1_000,
    coveredCells: 2,
    suppressedShare: 0.5,
    isTypical: true,
    findings: [],
  };

  const told = announcedQuality(await readQuality(AbortSignal.timeout(60_000)));

  expect(capabilities.shape.quality.parse(told)).toEqual([
    {
      ...usual,
      day: "2026-11-23",
      people: 590,
      isTypical: false,
      findings: [
        {
          code: "PEOPLE_UNUSUAL",
          level: "critical",
          hours: [8],
          description:
            "08:00–09:00 UTC: 41 % fewer people than on the last two Mondays (590, usual 800–1,200)",
        },
      ],
    },
    { ...usual, day: "2026-11-16" },
    { ...usual, day: "2026-11-09" },
  ]);
  vi.unstubAllEnvs();
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
