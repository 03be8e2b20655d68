import { describe, expect, test } from "vitest";
import { parseDensityRequest } from "../../../functions/population-density/query/parse.ts";
import { asked, boundary, now, queryOf } from "./city-query.ts";

describe("parseDensityRequest", () => {
  test("a request with a bow tie and an invalid period is refused with INVALID_AREA", () => {
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
});

describe("coordinates finer than can be measured", () => {
  // Exact arithmetic on the digits of such numbers, edge by edge and row by row, takes seconds.
  const comb = Array.from({ length: 15 }, (_, index) => ({
    latitude:
      index === 0 || index === 14 ? -89.9 : index % 2 === 1 ? 89.9 - 1e-7 * index : -89.899 + 1e-7 * index,
    longitude: index === 0 ? -5e-324 : index * 1e-14,
  }));

  test("a comb of 15 points with teeth of 1e-14 degrees is refused with INVALID_AREA at once", () => {
    const area = { areaType: "POLYGON", boundary: comb };
    expect(parseDensityRequest({ ...asked, area }, now)).toEqual({
      code: "POPULATION_DENSITY_DATA.INVALID_AREA",
    });
  });

  test("a coordinate is rounded to a multiple of 2^-40 degrees", () => {
    const nudged = boundary.map(({ latitude, longitude }) => ({ latitude: latitude + 2e-15, longitude }));
    const nearby = { areaType: "POLYGON", boundary: nudged };
    expect(queryOf({ area: nearby }).polygon).toEqual(queryOf({}).polygon);
  });
});
