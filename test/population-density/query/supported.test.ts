import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countCells } from "../../../functions/population-density/cover/cover.ts";
import { isLarge } from "../../../functions/population-density/query/bytes.ts";
import { type Fault, parseDensityRequest } from "../../../functions/population-density/query/parse.ts";
import { workUnitsOf } from "../../../functions/population-density/query/price.ts";
import { sizeOf } from "../../../functions/population-density/query/size.ts";
import { supportedSize } from "../../../functions/population-density/query/supported.ts";
import { now, queryOf } from "./city-query.ts";

const generous = { precisions: [3, 4, 5, 6, 7], syncLimit: 10_000_000, asyncLimit: 10_000_000 };
const supported = { precisions: [3, 4, 5, 6, 7], syncLimit: 40_000, asyncLimit: 2_000_000 };

const small = queryOf({});

/** The fault of a query that is not supported. */
function faultOf(...parameters: Parameters<typeof supportedSize>): Fault | undefined {
  const size = supportedSize(...parameters);
  return "code" in size ? size : undefined;
}

describe("supportedSize", () => {
  test("a request of 18 slots is accepted at a limit of 18", () => {
    expect(faultOf(small, supported, false)).toBeUndefined();
    expect(faultOf(small, { ...supported, syncLimit: 18 }, false)).toBeUndefined();
  });

  test("precision 12 is refused with UNSUPPORTED_PRECISION and the supported ones, for any size", () => {
    expect(faultOf({ ...small, precision: 12 }, { ...supported, asyncLimit: 1 }, false)).toEqual({
      code: "POPULATION_DENSITY_DATA.UNSUPPORTED_PRECISION",
      message: "The precision is not supported. Supported are 3, 4, 5, 6, 7.",
    });
  });

  test("18 slots are refused at a limit of 17, with size, limit and the finest precision that fits", () => {
    expect(faultOf(small, { ...supported, syncLimit: 17 }, false)).toEqual({
      code: "POPULATION_DENSITY_DATA.UNSUPPORTED_SYNC_RESPONSE",
      message:
        "Cells × hours are 18, the limit without a sink is 17. The finest supported precision that fits is 6.",
    });
  });

  test("18 slots are accepted with a sink when the limit without one is 17", () => {
    expect(faultOf(small, { ...supported, syncLimit: 17 }, true)).toBeUndefined();
  });

  test("a refusal names precision 6 with a sink and 5 without one", () => {
    const limits = { ...supported, syncLimit: 3, asyncLimit: 17 };
    expect(faultOf(small, limits, true)?.message).toMatch(/with a sink is 17\. .* fits is 6\.$/);
    expect(faultOf(small, limits, false)?.message).toMatch(/with a sink is 17\. .* fits is 5\.$/);
  });

  test("a sliver of 100 degrees is refused for 2,276 tiles × days, and precision 6 fits", () => {
    const query = queryOf({ area: sliver(100) });
    expect(faultOf(query, generous, false)?.message).toBe(
      "Tiles × days are 2276, the limit without a sink is 600. The finest supported precision that fits is 6.",
    );
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

  test("a sliver of 150 degrees is refused with UNSUPPORTED_REQUEST although its slots would fit a sink", () => {
    const query = queryOf({ area: sliver(150) });
    expect(faultOf(query, { ...generous, syncLimit: 1 }, false)).toMatchObject({
      code: "POPULATION_DENSITY_DATA.UNSUPPORTED_REQUEST",
      message: expect.stringMatching(/^Tiles × days are at least \d+, the limit with a sink is 2600\. /),
    });
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

  test.each([false, true])(
    "18 slots are refused with UNSUPPORTED_REQUEST when both limits are 3, with a sink: %s",
    (hasSink) => {
      expect(faultOf(small, { ...supported, syncLimit: 3, asyncLimit: 3 }, hasSink)).toEqual({
        code: "POPULATION_DENSITY_DATA.UNSUPPORTED_REQUEST",
        message:
          "Cells × hours are 18, the limit with a sink is 3. The finest supported precision that fits is 5.",
      });
    },
  );

  test("a refusal says that no coarser precision fits when none does", () => {
    const fault = faultOf(small, { ...supported, syncLimit: 1, asyncLimit: 1 }, false);
    expect(fault?.message).toBe(
      "Cells × hours are 18, the limit with a sink is 1. No coarser supported precision fits.",
    );
  });

  test("half of the world at precision 12 is refused with at least 1e17 slots, and precision 1 fits", () => {
    const half = [
      { latitude: -90, longitude: -90 },
      { latitude: -90, longitude: 89 },
      { latitude: 90, longitude: 89 },
      { latitude: 90, longitude: -90 },
    ];
    const query = queryOf({ area: { areaType: "POLYGON", boundary: half }, precision: 12 });
    const fault = faultOf(query, { ...supported, precisions: [1, 12] }, false);
    expect(fault?.code).toBe("POPULATION_DENSITY_DATA.UNSUPPORTED_REQUEST");
    const [, slots] = /^Cells × hours are at least (\d+), /.exec(fault?.message ?? "") ?? [];
    expect(Number(slots)).toBeGreaterThan(1e17);
    expect(fault?.message).toMatch(/The finest supported precision that fits is 1\.$/);
    expect(countCells(query.polygon, 1)).toBeLessThanOrEqual(32);
  });

  const sliver = (degrees: number) => ({
    areaType: "POLYGON",
    boundary: [
      { latitude: 10.01, longitude: 0 },
      { latitude: 10.011, longitude: 0 },
      { latitude: 10.01, longitude: degrees },
    ],
  });

  test("a square of 1.9 degrees is accepted with a sink", () => {
    const side = 1.9;
    const solid = [
      { latitude: 45, longitude: 4 },
      { latitude: 45, longitude: 4 + side },
      { latitude: 45 + side, longitude: 4 + side },
      { latitude: 45 + side, longitude: 4 },
    ];
    const period = { startTime: "2026-11-21T11:00:00Z", endTime: "2026-11-21T12:00:00Z" };
    const query = queryOf({ area: { areaType: "POLYGON", boundary: solid }, ...period });
    expect(faultOf(query, supported, true)).toBeUndefined();
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

describe("isLarge", () => {
  test.each<[Parameters<typeof isLarge>[1], number, number, Parameters<typeof isLarge>[2]?]>([
    ["application/json", 1_739, 1],
    ["text/csv", 1_503, 1, { geometry: "POINT" }],
    ["text/csv", 701, 1, { geometry: "WKT" }],
    ["application/geo+json", 16, 25, { featuresPer: "HOUR" }],
    ["text/csv", 2_083, 1],
    ["application/x-ndjson", 925, 1],
    ["application/geo+json", 396, 1],
    ["application/geo+json", 120, 24],
  ])(
    "an answer as %s of %i cells in %i hours is not large, and with a cell more it is",
    (format, cells, hours, choices) => {
      expect(isLarge({ cells, slots: cells * hours }, format, choices)).toBe(false);
      expect(isLarge({ cells: cells + 1, slots: (cells + 1) * hours }, format, choices)).toBe(true);
    },
  );
});
