import { describe, expect, test } from "vitest";
import { parseDensityRequest } from "../../../functions/population-density/query/parse.ts";
import { asked, boundary, now, queryOf } from "./city-query.ts";

describe("parseDensityRequest", () => {
  test("parseDensityRequest covers the period with whole hours", () => {
    const { asked, precision } = queryOf({});
    const hours = asked.map(({ hour }) => new Date(hour * 3_600_000).toISOString());
    expect(hours).toEqual(["2026-11-21T11:00:00.000Z", "2026-11-21T12:00:00.000Z"]);
    expect(precision).toBe(7);
  });

  test("parseDensityRequest reports an invalid area before an invalid period", () => {
    const bowTie = [
      { latitude: 0, longitude: 0 },
      { latitude: 1, longitude: 1 },
      { latitude: 0, longitude: 1 },
      { latitude: 1, longitude: 0 },
    ];
    const area = { areaType: "POLYGON", boundary: bowTie };
    expect(parseDensityRequest({ ...asked, area, endTime: "2026-11-21T10:00:00Z" }, now)).toEqual({
      code: "POPULATION_DENSITY_DATA.INVALID_AREA",
    });
  });

  test.each([
    ["2026-08-21T10:29:59Z", "2026-08-21T11:00:00Z", "MIN_STARTTIME_EXCEEDED"],
    ["2027-02-21T10:30:01Z", "2027-02-21T10:30:01Z", "MAX_STARTTIME_EXCEEDED"],
    ["2026-11-21T12:00:00Z", "2026-11-21T11:59:59Z", "INVALID_END_TIME"],
    ["2026-11-21T10:00:00Z", "2026-11-21T11:00:00Z", "INVALID_TIME_PERIOD"],
    ["2026-11-22T10:00:00Z", "2026-11-29T10:00:01Z", "MAX_TIME_PERIOD_EXCEEDED"],
  ])("parseDensityRequest refuses a period from %s to %s with %s", (startTime, endTime, code) => {
    const fault = parseDensityRequest({ ...asked, startTime, endTime }, now);
    expect(fault).toEqual({ code: `POPULATION_DENSITY_DATA.${code}` });
  });

  test("parseDensityRequest refuses an end more than three months ahead with INVALID_ARGUMENT", () => {
    const period = { startTime: "2027-02-21T10:30:00Z", endTime: "2027-02-21T10:30:01Z" };
    expect(parseDensityRequest({ ...asked, ...period }, now)).toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});

describe("coordinates finer than can be measured", () => {
  // Exact arithmetic on the digits of such numbers, edge by edge and row by row, takes seconds.
  const comb = Array.from({ length: 15 }, (_, index) => ({
    latitude:
      index === 0 || index === 14 ? -89.9 : index % 2 === 1 ? 89.9 - 1e-7 * index : -89.899 + 1e-7 * index,
    longitude: index === 0 ? -5e-324 : index * 1e-14,
  }));

  test("parseDensityRequest finds no area between coordinates that are finer than it can measure", () => {
    const area = { areaType: "POLYGON", boundary: comb };
    expect(parseDensityRequest({ ...asked, area }, now)).toEqual({
      code: "POPULATION_DENSITY_DATA.INVALID_AREA",
    });
  });

  test("parseDensityRequest rounds a coordinate to the nearest that it can measure", () => {
    const nudged = boundary.map(({ latitude, longitude }) => ({ latitude: latitude + 2e-15, longitude }));
    const nearby = { areaType: "POLYGON", boundary: nudged };
    expect(queryOf({ area: nearby }).polygon).toEqual(queryOf({}).polygon);
  });
});
