import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countCells } from "../../../functions/population-density/cover/cover.ts";
import { type Fault, parseDensityRequest } from "../../../functions/population-density/query/parse.ts";
import { workUnitsOf } from "../../../functions/population-density/query/price.ts";
import { sizeOf } from "../../../functions/population-density/query/size.ts";
import { supportedSize } from "../../../functions/population-density/query/supported.ts";
import { asked, now, queryOf } from "./city-query.ts";

const generous = { precisions: [3, 4, 5, 6, 7], syncLimit: 10_000_000, asyncLimit: 10_000_000 };
const supported = { precisions: [3, 4, 5, 6, 7], syncLimit: 40_000, asyncLimit: 2_000_000 };

const small = queryOf({});

/** The fault of a query that is not supported. */
function faultOf(...parameters: Parameters<typeof supportedSize>): Fault | undefined {
  const size = supportedSize(...parameters);
  return "code" in size ? size : undefined;
}

const areaOf = (...points: readonly (readonly [latitude: number, longitude: number])[]) => ({
  areaType: "POLYGON",
  boundary: points.map(([latitude, longitude]) => ({ latitude, longitude })),
});
const sliver = (degrees: number) => areaOf([10.01, 0], [10.011, 0], [10.01, degrees]);
const square = (side: number) => areaOf([45, 4], [45, 4 + side], [45 + side, 4 + side], [45 + side, 4]);
const halfOfWorld = areaOf([-90, -90], [-90, 89], [90, 89], [90, -90]);

describe("supportedSize", () => {
  const ofRequest = "UNSUPPORTED_REQUEST";

  type Row = [
    string,
    boolean,
    string | undefined,
    Parameters<typeof queryOf>[0],
    Partial<typeof supported>,
    RegExp?,
  ];

  test.each<Row>([
    ["18 slots at a limit of 18", false, undefined, {}, { syncLimit: 18 }],
    ["18 slots at a limit without a sink of 17", true, undefined, {}, { syncLimit: 17 }],
    ["18 slots at a limit of 18", true, undefined, {}, { syncLimit: 3, asyncLimit: 18 }],
    ["a square of 1.9 degrees", true, undefined, { area: square(1.9), startTime: asked.endTime }, {}],
    [
      "18 slots at a limit of 17",
      false,
      "UNSUPPORTED_SYNC_RESPONSE",
      {},
      { syncLimit: 17 },
      /^Cells × hours are 18, the limit without a sink is 17\. .* fits is 6\.$/,
    ],
    [
      "18 slots at limits of 3 and 17",
      true,
      ofRequest,
      {},
      { syncLimit: 3, asyncLimit: 17 },
      /with a sink is 17\. .* fits is 6\.$/,
    ],
    [
      "18 slots at limits of 3 and 17",
      false,
      ofRequest,
      {},
      { syncLimit: 3, asyncLimit: 17 },
      /with a sink is 17\. .* fits is 5\.$/,
    ],
    [
      "18 slots at limits of 1",
      false,
      ofRequest,
      {},
      { syncLimit: 1, asyncLimit: 1 },
      /with a sink is 1\. No coarser supported precision fits\.$/,
    ],
    [
      "cells of precision 12",
      false,
      "UNSUPPORTED_PRECISION",
      { precision: 12 },
      { asyncLimit: 1 },
      /Supported are 3, 4, 5, 6, 7\.$/,
    ],
    [
      "a sliver of 100 degrees",
      false,
      "UNSUPPORTED_SYNC_RESPONSE",
      { area: sliver(100) },
      generous,
      /^Tiles × days are 2276, the limit without a sink is 600\. .* fits is 6\.$/,
    ],
    [
      "a sliver of 150 degrees",
      false,
      ofRequest,
      { area: sliver(150) },
      { ...generous, syncLimit: 1 },
      /^Tiles × days are at least \d+, the limit with a sink is 2600\. /,
    ],
    [
      "half of the world",
      false,
      ofRequest,
      { area: halfOfWorld, precision: 12 },
      { precisions: [1, 12] },
      /^Cells × hours are at least \d{18,}, .* fits is 1\.$/,
    ],
  ])("a request for %s, with a sink: %s → %s", (_, hasSink, code, request, limits, message) => {
    const fault = faultOf(queryOf(request), { ...supported, ...limits }, hasSink);
    expect(fault?.code).toBe(code && `POPULATION_DENSITY_DATA.${code}`);
    if (message !== undefined) expect(fault?.message).toMatch(message);
  });

  test.each([
    ["a future day: its weekday", "2026-11-22T11:00:00Z", "2026-11-22T12:00:00Z", 1],
    ["a past day: its weekday and its date", "2026-11-19T11:00:00Z", "2026-11-19T12:00:00Z", 2],
    ["a day that has begun, asked from now on", "2026-11-21T10:30:00Z", "2026-11-21T12:00:00Z", 2],
    ["past days around midnight: two of each", "2026-11-18T23:00:00Z", "2026-11-19T01:00:00Z", 4],
    ["a past week: seven weekdays and seven dates", "2026-11-10T00:00:00Z", "2026-11-17T00:00:00Z", 14],
    [
      "a past week from noon: seven weekdays and eight dates",
      "2026-11-10T12:00:00Z",
      "2026-11-17T12:00:00Z",
      15,
    ],
    ["a future week from noon: seven weekdays", "2026-11-23T12:00:00Z", "2026-11-30T12:00:00Z", 7],
  ])("tiles × days are those of %s", (_, startTime, endTime, days) => {
    // 60 tiles, and a few more where the sliver crosses a row of them.
    const query = queryOf({ area: sliver(2.6), startTime, endTime });
    const tiles = countCells(query.polygon, 5);
    expect(tiles).toBeGreaterThan(55);
    expect(workUnitsOf(sizeOf(query))).toBe(Math.floor((tiles * days) / 10));
    const fault = faultOf(query, generous, false);
    if (tiles * days <= 600) expect(fault).toBeUndefined();
    else expect(fault?.message).toMatch(new RegExp(`^Tiles × days are ${tiles * days}, the limit without`));
  });

  test("one day of one tile costs no more than any request", () => {
    expect(workUnitsOf(sizeOf(small))).toBe(0);
  });

  test("the precision that a refusal names is accepted, and every finer one is refused", () => {
    const degrees = fc.double({ min: -9, max: 9, noNaN: true });
    const corner = fc.record({ latitude: degrees, longitude: degrees.map((value) => value * 15) });
    const thin = fc.double({ min: 1e-4, max: 0.1, noNaN: true });
    const slivers = fc
      .tuple(corner, corner, thin)
      .map(([from, to, width]) => [from, { ...from, latitude: from.latitude + width }, to]);
    const areas = fc.oneof(fc.array(corner, { minLength: 3, maxLength: 3 }), slivers);
    const seen = { named: 0, none: 0, wide: 0 };
    fc.assert(
      fc.property(
        areas,
        fc.integer({ min: 0, max: 167 }),
        fc.subarray([1, 2, 3, 4, 5, 6, 7, 8, 9], { minLength: 1 }),
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 7 }),
        fc.boolean(),
        (boundary, hours, precisions, syncPower, morePower, hasSink) => {
          const precision = precisions.at(-1) ?? 0;
          const request = {
            area: { areaType: "POLYGON", boundary },
            startTime: "2026-11-22T11:00:00Z",
            endTime: new Date(Date.parse("2026-11-22T12:00:00Z") + hours * 3_600_000).toISOString(),
          };
          const limits = {
            precisions,
            syncLimit: 10 ** syncPower,
            asyncLimit: 10 ** (syncPower + morePower),
          };
          const refusal = (at: number) => {
            const query = parseDensityRequest({ ...request, precision: at }, now);
            return "code" in query ? query : faultOf(query, limits, hasSink);
          };
          const refused = refusal(precision);
          if (refused === undefined || refused.code.endsWith("INVALID_AREA")) return;
          const named = Number(/fits is (\d)\.$/.exec(refused.message ?? "")?.[1] ?? 0);
          if (named > 0) expect(refusal(named)).toBeUndefined();
          for (const other of precisions) {
            if (other > named) expect(refusal(other)).toBeDefined();
          }
          seen[named > 0 ? "named" : "none"]++;
          if (refused.message?.includes("Tiles")) seen.wide++;
        },
      ),
      { numRuns: 800, seed: 22 },
    );
    expect(Math.min(...Object.values(seen))).toBeGreaterThan(10);
  });
});

describe("sizeOf", () => {
  test("a request for 2 hours of the example has 9 cells, 18 slots, 1 tile and 1 tile × day", () => {
    expect(sizeOf(small)).toEqual({
      cells: 9,
      slots: 18,
      areCellsExact: true,
      tiles: 1,
      // The day has begun, but both hours are to come: they are read from the typical weekday alone.
      tileDays: 1,
      areTilesExact: true,
    });
  });

  test("an accepted request has an exact size", () => {
    expect(supportedSize(small, supported, false)).toEqual(sizeOf(small));
  });
});
