import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { areaOf, cellsIn, examplesIn, parseArea, problemWith } from "../../console/request/area.ts";

const limits = { minPoints: 3, maxPoints: 15 };
const triangle = [
  { latitude: 45.7, longitude: 4.8 },
  { latitude: 45.71, longitude: 4.82 },
  { latitude: 45.69, longitude: 4.83 },
];
const ring = [...triangle, triangle[0]].map((point) => [point?.longitude, point?.latitude]);
const polygon = { type: "Polygon", coordinates: [ring] };

describe("a pasted area", () => {
  test.each([
    ["an area of the API", { areaType: "POLYGON", boundary: triangle }],
    ["a request of the API", { area: { areaType: "POLYGON", boundary: triangle }, precision: 7 }],
    ["a list of points", triangle],
    ["a GeoJSON polygon, whose ring is closed", polygon],
    ["a GeoJSON feature", { type: "Feature", properties: null, geometry: polygon }],
    [
      "the first polygon of a GeoJSON collection",
      {
        type: "FeatureCollection",
        features: [
          { type: "Feature", properties: {}, geometry: { type: "Point", coordinates: [4, 45] } },
          { type: "Feature", properties: {}, geometry: polygon },
        ],
      },
    ],
  ])("may be %s", (_, value) => {
    expect(parseArea(JSON.stringify(value))).toEqual({ areaType: "POLYGON", boundary: triangle });
  });

  test.each([
    ["{", "not JSON"],
    ["{}", "No polygon"],
    ['{"type":"Point","coordinates":[4,45]}', "No polygon"],
    ['{"type":"Polygon","coordinates":[]}', "No polygon"],
    ['{"type":"Polygon","coordinates":[["4",45]]}', "No polygon"],
    [JSON.stringify({ type: "Polygon", coordinates: [ring, ring] }), "holes"],
    ["[]", "No polygon"],
    ["null", "No polygon"],
  ])("that is %s is refused with what was expected", (text, message) => {
    expect(() => parseArea(text)).toThrow(message);
  });

  test("whatever it is, is an area or an error that a person can read", () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        try {
          expect(parseArea(text).boundary.length).toBeGreaterThan(0);
        } catch (error) {
          expect((error as Error).message).toMatch(
            /^(?:This is not JSON|No polygon found|The polygon has holes)/,
          );
        }
      }),
    );
  });
});

describe("an area", () => {
  test("that the API would refuse says why", () => {
    const bowtie = [
      { latitude: 0, longitude: 0 },
      { latitude: 1, longitude: 1 },
      { latitude: 1, longitude: 0 },
      { latitude: 0, longitude: 1 },
    ];
    expect(problemWith(areaOf(triangle), limits)).toBeUndefined();
    expect(problemWith(areaOf(triangle.slice(1)), limits)).toContain("at least 3");
    expect(problemWith(areaOf(Array.from({ length: 16 }, () => triangle[0] as never)), limits)).toContain(
      "16",
    );
    expect(problemWith(areaOf(bowtie), limits)).toContain("must not meet");
    expect(problemWith(areaOf([{ latitude: 91, longitude: 0 }, ...triangle]), limits)).toContain("outside");
  });

  test("has as many cells as share area with it: 32 times as many at the next precision, but for its edge", () => {
    expect(cellsIn(areaOf(triangle), 3)).toBe(1);
    const [six, seven] = [cellsIn(areaOf(triangle), 6), cellsIn(areaOf(triangle), 7)];
    expect(seven).toBeGreaterThan(six);
    expect(seven).toBeLessThan(32 * six);
  });
});

describe("examples", () => {
  const lyon = { west: 4.8, south: 45.7, east: 4.9, north: 45.8 };

  test("lie where there are data, and are areas that the API takes", () => {
    expect(examplesIn(undefined)).toEqual([]);
    expect(examplesIn(lyon).map(({ name }) => name)).toContain("Centre of Lyon");
    const elsewhere = { west: 170, south: -40, east: -170, north: -30 };
    expect(examplesIn(elsewhere).map(({ name }) => name)).toEqual([
      "Middle of what is covered",
      "All that is covered",
    ]);
    const halfOfTheWorld = { west: 4, south: -80, east: -70, north: 80 };
    expect(examplesIn(halfOfTheWorld).map(({ name }) => name)).toContain("Centre of Lyon");
    expect(examplesIn({ ...halfOfTheWorld, west: 5 }).map(({ name }) => name)).not.toContain(
      "Centre of Lyon",
    );
    for (const coverage of [
      lyon,
      elsewhere,
      halfOfTheWorld,
      { west: -180, south: -90, east: 180, north: 90 },
    ]) {
      for (const { area } of examplesIn(coverage)) expect(problemWith(area, limits)).toBeUndefined();
    }
  });
});
