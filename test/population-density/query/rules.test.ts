import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countCells } from "../../../functions/population-density/cover/cover.ts";
import {
  type DensityQuery,
  parseQuery,
  unsupported,
  workUnitsOf,
} from "../../../functions/population-density/query/rules.ts";

const now = new Date("2026-11-21T10:30:00Z");

const boundary = [
  { latitude: 45.754114, longitude: 4.860374 },
  { latitude: 45.753845, longitude: 4.863185 },
  { latitude: 45.75249, longitude: 4.861876 },
  { latitude: 45.751224, longitude: 4.861125 },
  { latitude: 45.751442, longitude: 4.859827 },
];

const asked = {
  area: { areaType: "POLYGON", boundary },
  startTime: "2026-11-21T11:25:00Z",
  endTime: "2026-11-21T12:45:00Z",
  precision: 7,
};

function questionOf(changes: Partial<typeof asked>): DensityQuery {
  const query = parseQuery({ ...asked, ...changes }, now);
  if ("code" in query) throw new Error(query.code);
  return query;
}

const generous = { precisions: [3, 4, 5, 6, 7], syncLimit: 10_000_000, asyncLimit: 10_000_000 };
const supported = { precisions: [3, 4, 5, 6, 7], syncLimit: 40_000, asyncLimit: 2_000_000 };

describe("a query", () => {
  test("covers its period with whole hours", () => {
    const { asked, precision } = questionOf({});
    const hours = asked.map(({ hour }) => new Date(hour * 3_600_000).toISOString());
    expect(hours).toEqual(["2026-11-21T11:00:00.000Z", "2026-11-21T12:00:00.000Z"]);
    expect(precision).toBe(7);
  });

  test("a broken area comes before a broken period", () => {
    const bowTie = [
      { latitude: 0, longitude: 0 },
      { latitude: 1, longitude: 1 },
      { latitude: 0, longitude: 1 },
      { latitude: 1, longitude: 0 },
    ];
    const area = { areaType: "POLYGON", boundary: bowTie };
    expect(parseQuery({ ...asked, area, endTime: "2026-11-21T10:00:00Z" }, now)).toEqual({
      code: "POPULATION_DENSITY_DATA.INVALID_AREA",
    });
  });

  test.each([
    ["2026-08-21T10:29:59Z", "2026-08-21T11:00:00Z", "MIN_STARTTIME_EXCEEDED"],
    ["2027-02-21T10:30:01Z", "2027-02-21T10:30:01Z", "MAX_STARTTIME_EXCEEDED"],
    ["2026-11-21T12:00:00Z", "2026-11-21T11:59:59Z", "INVALID_END_TIME"],
    ["2026-11-21T10:00:00Z", "2026-11-21T11:00:00Z", "INVALID_TIME_PERIOD"],
    ["2026-11-22T10:00:00Z", "2026-11-29T10:00:01Z", "MAX_TIME_PERIOD_EXCEEDED"],
  ])("from %s to %s is %s", (startTime, endTime, code) => {
    const fault = parseQuery({ ...asked, startTime, endTime }, now);
    expect(fault).toEqual({ code: `POPULATION_DENSITY_DATA.${code}` });
  });

  test("an end beyond three months is INVALID_ARGUMENT", () => {
    const period = { startTime: "2027-02-21T10:30:00Z", endTime: "2027-02-21T10:30:01Z" };
    expect(parseQuery({ ...asked, ...period }, now)).toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});

describe("coordinates finer than can be measured", () => {
  // Exact arithmetic on the digits of such numbers, edge by edge and row by row, takes seconds.
  const comb = Array.from({ length: 15 }, (_, index) => ({
    latitude:
      index === 0 || index === 14 ? -89.9 : index % 2 === 1 ? 89.9 - 1e-7 * index : -89.899 + 1e-7 * index,
    longitude: index === 0 ? -5e-324 : index * 1e-14,
  }));

  test("mean nothing: an area of them has none", () => {
    const area = { areaType: "POLYGON", boundary: comb };
    expect(parseQuery({ ...asked, area }, now)).toEqual({ code: "POPULATION_DENSITY_DATA.INVALID_AREA" });
  });

  test("are as good as the nearest that can be", () => {
    const nudged = boundary.map(({ latitude, longitude }) => ({ latitude: latitude + 2e-15, longitude }));
    const nearby = { areaType: "POLYGON", boundary: nudged };
    expect(questionOf({ area: nearby }).polygon).toEqual(questionOf({}).polygon);
  });
});

describe("size", () => {
  const small = questionOf({});

  test("what fits is answered", () => {
    expect(unsupported(small, supported, false)).toBeUndefined();
    expect(unsupported(small, { ...supported, syncLimit: 18 }, false)).toBeUndefined();
  });

  test("a precision that is not supported comes before any size", () => {
    expect(unsupported({ ...small, precision: 12 }, { ...supported, asyncLimit: 1 }, false)).toEqual({
      code: "POPULATION_DENSITY_DATA.UNSUPPORTED_PRECISION",
      message: "The precision is not supported. Supported are 3, 4, 5, 6, 7.",
    });
  });

  test("one slot too many names size, limit and the finest precision that fits", () => {
    expect(unsupported(small, { ...supported, syncLimit: 17 }, false)).toEqual({
      code: "POPULATION_DENSITY_DATA.UNSUPPORTED_SYNC_RESPONSE",
      message:
        "Cells × hours are 18, the limit without a sink is 17. The finest supported precision that fits is 6.",
    });
  });

  test("it is answered with a sink", () => {
    expect(unsupported(small, { ...supported, syncLimit: 17 }, true)).toBeUndefined();
  });

  test("the precision that is named fits as the request was sent: without a sink, if it had none", () => {
    const limits = { ...supported, syncLimit: 3, asyncLimit: 17 };
    expect(unsupported(small, limits, true)?.message).toMatch(/with a sink is 17\. .* fits is 6\.$/);
    expect(unsupported(small, limits, false)?.message).toMatch(/with a sink is 17\. .* fits is 5\.$/);
  });

  test("an area that is too long and narrow gets the finest precision of tiles that are few enough", () => {
    const query = questionOf({ area: sliver(100) });
    expect(unsupported(query, generous, false)?.message).toBe(
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
  ])("of %s are read", (_, startTime, endTime, days) => {
    // 60 tiles, and a few more where the sliver crosses a row of them.
    const query = questionOf({ area: sliver(2.6), startTime, endTime });
    const tiles = countCells(query.polygon, 5);
    expect(tiles).toBeGreaterThan(55);
    expect(workUnitsOf(query)).toBe(Math.floor((tiles * days) / 10));
    const fault = unsupported(query, generous, false);
    if (tiles * days <= 600) expect(fault).toBeUndefined();
    else expect(fault?.message).toMatch(new RegExp(`^Tiles × days are ${tiles * days}, the limit without`));
  });

  test("a request of one day within one tile costs no more than any request", () => {
    expect(workUnitsOf(questionOf({}))).toBe(0);
  });

  test("too many tiles × days for both is UNSUPPORTED_REQUEST, also where its slots alone would fit a sink", () => {
    const query = questionOf({ area: sliver(150) });
    expect(unsupported(query, { ...generous, syncLimit: 1 }, false)).toMatchObject({
      code: "POPULATION_DENSITY_DATA.UNSUPPORTED_REQUEST",
      message: expect.stringMatching(/^Tiles × days are at least \d+, the limit with a sink is 2600\. /),
    });
  });

  test("the precision that a refusal names is accepted, and none that is finer; none is named when none is", () => {
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
            const query = parseQuery({ ...request, precision: at }, now);
            return "code" in query ? query : unsupported(query, limits, hasSink);
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

  test.each([false, true])("too much for both, with a sink: %s", (hasSink) => {
    expect(unsupported(small, { ...supported, syncLimit: 3, asyncLimit: 3 }, hasSink)).toEqual({
      code: "POPULATION_DENSITY_DATA.UNSUPPORTED_REQUEST",
      message:
        "Cells × hours are 18, the limit with a sink is 3. The finest supported precision that fits is 5.",
    });
  });

  test("the message says so when nothing fits", () => {
    const fault = unsupported(small, { ...supported, syncLimit: 1, asyncLimit: 1 }, false);
    expect(fault?.message).toBe(
      "Cells × hours are 18, the limit with a sink is 1. No coarser supported precision fits.",
    );
  });

  test("of half the world at precision 12 is known without listing it", () => {
    const half = [
      { latitude: -90, longitude: -90 },
      { latitude: -90, longitude: 89 },
      { latitude: 90, longitude: 89 },
      { latitude: 90, longitude: -90 },
    ];
    const query = questionOf({ area: { areaType: "POLYGON", boundary: half }, precision: 12 });
    const fault = unsupported(query, { ...supported, precisions: [1, 12] }, false);
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

  test.each([
    [100, false, "POPULATION_DENSITY_DATA.UNSUPPORTED_SYNC_RESPONSE"],
    [100, true, undefined],
    [150, true, "POPULATION_DENSITY_DATA.UNSUPPORTED_REQUEST"],
    [150, false, "POPULATION_DENSITY_DATA.UNSUPPORTED_REQUEST"],
  ])("few cells in too many tiles: a sliver of %i degrees, with a sink: %s", (degrees, hasSink, code) => {
    const query = questionOf({ area: sliver(degrees) });
    expect(unsupported(query, generous, hasSink)?.code).toBe(code);
  });

  test("a solid area of the maximum size is not too wide", () => {
    const side = 1.9;
    const solid = [
      { latitude: 45, longitude: 4 },
      { latitude: 45, longitude: 4 + side },
      { latitude: 45 + side, longitude: 4 + side },
      { latitude: 45 + side, longitude: 4 },
    ];
    const period = { startTime: "2026-11-21T11:00:00Z", endTime: "2026-11-21T12:00:00Z" };
    const query = questionOf({ area: { areaType: "POLYGON", boundary: solid }, ...period });
    expect(unsupported(query, supported, true)).toBeUndefined();
  });
});
