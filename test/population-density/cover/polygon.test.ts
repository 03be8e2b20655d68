import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Point, polygonOf } from "../../../functions/population-density/cover/polygon.ts";
import { isPolygonByOracle } from "./oracle.ts";
import { ringsInGrid } from "./random-rings.ts";
import { type Coordinates, ring, ringOf, unit } from "./sample-rings.ts";

/** Each way to write the same ring: from any of its points, in both orientations, open and closed. */
function writings(boundary: readonly Point[]): Point[][] {
  return boundary.flatMap((_, start) => {
    const turned = [...boundary.slice(start), ...boundary.slice(0, start)];
    return [turned, turned.toReversed()].flatMap((open) => [open, [...open, ...open.slice(0, 1)]]);
  });
}

/** Each with what is said of the ring, and whether it is a polygon. */
const rings: readonly (readonly [what: string, boundary: readonly Point[], isPolygon: boolean])[] = [
  ["a bow tie", ringOf("0 0, 1 1, 1 0, 0 1"), false],
  ["a repeated vertex", ringOf("0 0, 0 2, 1 1, 2 2, 2 0, 1 1"), false],
  ["two such vertices a unit apart", ring([0, 0], [0, 2], [1, 1 + unit], [2, 2], [2, 0], [1, 1]), true],
  ["a vertex on an edge", ringOf("0 0, 0 2, 2 2, 0 1"), false],
  ["a vertex a unit above the edge", ring([0, 0], [0, 2], [2, 2], [unit, 1]), true],
  ["a vertex a unit below the edge", ring([0, 0], [0, 2], [2, 2], [-unit, 1]), false],
  ["a vertex on a slanted edge", ringOf("0 0, 3 3, 3 9, 1 1, -1 9"), false],
  ["a vertex a unit right of it", ring([0, 0], [3, 3], [3, 9], [1, 1 + unit], [-1, 9]), true],
  ["a vertex a unit left of it", ring([0, 0], [3, 3], [3, 9], [1, 1 - unit], [-1, 9]), false],
  ["a vertex in the middle of a straight edge", ringOf("0 0, 0 1, 0 2, 1 1"), true],
  ["a spike outwards", ringOf("0 0, 0 2, 0 1, 1 1"), false],
  ["a spike that opens by a unit", ring([0, 0], [0, 2], [unit, 1], [1, 1]), true],
  ["a spike inwards", ringOf("0 0, 0 2, 2 2, 1 1, 2 2, 2 0"), false],
  ["two edges that overlap", ringOf("0 0, 0 3, 1 3, 0 2, 0 1, 1 0"), false],
  ["points on a line in decimals", ringOf("45.77 4.87, 45.75 4.85, 45.76 4.86"), false],
  ["four points on a line in decimals", ringOf("0.1 0.3, 0.2 0.6, 0.3 0.9, 0.7 2.1"), false],
  ["points a unit away from a line", ring([0, 0], [0.1, 0.1], [0.3, 0.3 + unit]), false],
  ["points on a line across the antimeridian", ringOf("0 179.9, 0.1 -180, 0.2 -179.9"), false],
  ["points on a line around half of the globe", ringOf("-60 -90.3, 0 0, 60 90.3"), false],
  ["half a square unit", ring([0, 0], [0, unit], [unit, 0]), false],
  ["a needle in one part only", ring([0, 0], [0, 1], [unit, 1], [unit, 1e-8], [1e-8, 0]), true],
  ["a neck of one unit", ring([0, 0], [0, 2], [1, 2], [unit, 1], [1, 0]), true],
  ["no points", [], false],
  ["one point", ringOf("1 1"), false],
  ["two points", ringOf("1 1, 2 2"), false],
  ["the same point three times", ringOf("1 1, 1 1, 1 1"), false],
  ["two points there and back", ringOf("1 1, 2 2, 1 1, 2 2"), false],
  ["a way around the north pole", ringOf("80 0, 80 120, 80 -120"), false],
  ["a way around the south pole", ringOf("-80 0, -80 -90, -80 180, -80 90"), false],
  ["vertices on both poles and the antimeridian", ringOf("-90 0, -90 180, 90 180, 90 0"), true],
  ["a pole and the antimeridian as an edge", ringOf("90 180, 80 -180, 80 -170"), true],
  ["the antimeridian, out and back", ringOf("0 180, 1 -180, 2 180"), false],
  ["a vertex twice, as 180 and as -180", ringOf("0 180, 1 179, 2 179, 0 -180, 1 -179, 2 -179"), false],
  ["a corner of the globe at each point", ringOf("-90 -180, -90 180, 90 180, 90 -180"), false],
  ["a jump of 180 degrees, twice", ringOf("0 0, 0 180, 1 90"), true],
  ["a jump of a unit more than 180 degrees", ring([0, -unit], [0, 180], [1, 90]), false],
  ["a jump of a unit less than 180 degrees", ring([0, unit], [0, 180], [1, 90]), true],
  ["a belt around the globe", ringOf("0 -180, 0 -60, 0 60, 0 180, 1 180, 1 60, 1 -60, 1 -180"), true],
  ["a spiral", ringOf("0 0, 4 120, 8 -120, 12 0, 13 0, 9 -120, 5 120, 1 0"), true],
  [
    "a spiral that meets itself",
    ringOf("0 0, 0 120, 0 -120, 0 0, 0 60, 1 60, 1 0, 1 -120, 1 120, 1 0"),
    false,
  ],
];

describe("one unit decides", () => {
  test.each(rings.map(([what, ring, is]) => [is ? "accepts" : "refuses", what, ring, is] as const))(
    "the service %s a ring with %s, however it is written",
    (_, __, boundary, isPolygon) => {
      for (const written of [boundary, ...writings(boundary)]) {
        expect(isPolygonByOracle(written)).toBe(isPolygon);
        expect(polygonOf(written) !== undefined).toBe(isPolygon);
      }
    },
  );

  test("2,000 rings whose corners are a unit apart are accepted or refused as rational arithmetic does", () => {
    const near = fc.tuple(fc.integer({ min: -2, max: 2 }), fc.integer({ min: -2, max: 2 }));
    const base = fc.constantFrom<Coordinates>([45.75, 4.86], [0.1, 0.3], [-33.3, -179.9], [64, 128]);
    let [polygons, others] = [0, 0];
    fc.assert(
      fc.property(base, fc.array(near, { minLength: 3, maxLength: 7 }), ([latitude, longitude], steps) => {
        const boundary = [
          ...steps.map(([north, east]) => ({
            latitude: latitude + (north * unit) / 2,
            longitude: longitude + (east * unit) / 2,
          })),
          { latitude: latitude + 1, longitude: longitude + 0.05 },
          { latitude: latitude + 1, longitude: longitude - 0.05 },
        ];
        const isPolygon = polygonOf(boundary) !== undefined;
        expect(isPolygon).toBe(isPolygonByOracle(boundary));
        if (isPolygon) polygons++;
        else others++;
      }),
      { numRuns: 2_000 },
    );
    expect(Math.min(polygons, others)).toBeGreaterThan(100);
  });
});

describe("one nanodegree decides", () => {
  /** Shapes by their width in degrees, each with long sides. */
  const shapes: readonly (readonly [what: string, withWidth: (width: number) => readonly Point[]])[] = [
    ["a level triangle", (width) => ring([45.75, 4.8], [45.75, 4.9], [45.75 + width, 4.85])],
    ["an upright triangle", (width) => ring([45.7, 4.85], [45.8, 4.85], [45.75, 4.85 + width])],
    ["a triangle with a short side", (width) => ring([1, 1], [1, 2], [1 + width, 2])],
    ["a slanted triangle", (width) => ring([0, 0], [3, 4], [1.5 - 0.8 * width, 2 + 0.6 * width])],
    ["a rectangle", (width) => ring([7, 7], [7, 8], [7 + width, 8], [7 + width, 7])],
    ["a triangle across the antimeridian", (width) => ring([-8, 179.5], [-8, -179.5], [-8 + width, 180])],
    ["a bent strip", (width) => ring([2, 0], [2, 1], [2, 2], [2 + width, 2], [2 + width, 1], [2 + width, 0])],
  ];

  test.each(shapes)("%s thinner than a nanodegree is refused, and accepted from there on", (_, withWidth) => {
    for (const width of [0, 1e-13, 1e-12, 1e-11, 1e-10, 5e-10, 0.99e-9]) {
      for (const written of writings(withWidth(width))) expect(polygonOf(written)).toBeUndefined();
      expect(isPolygonByOracle(withWidth(width))).toBe(false);
    }
    for (const width of [1e-9, 1.01e-9, 1e-8, 1e-6]) {
      for (const written of writings(withWidth(width))) expect(polygonOf(written)).toBeDefined();
      expect(isPolygonByOracle(withWidth(width))).toBe(true);
    }
  });

  test("3 to 15 decimal points on a line are refused", () => {
    const line = fc.record({
      latitude: fc.integer({ min: -500_000, max: 500_000 }),
      longitude: fc.integer({ min: -800_000, max: 800_000 }),
      north: fc.integer({ min: -1_000, max: 1_000 }),
      east: fc.integer({ min: -1_000, max: 1_000 }),
      steps: fc.array(fc.integer({ min: -100, max: 100 }), { minLength: 3, maxLength: 15 }),
    });
    fc.assert(
      fc.property(line, ({ latitude, longitude, north, east, steps }) => {
        const boundary = steps.map((step) => ({
          latitude: (latitude + step * north) / 1e4,
          longitude: (longitude + step * east) / 1e4,
        }));
        expect(polygonOf(boundary)).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("a polygon", () => {
  test("1,500 rings at corners of cells are accepted or refused as rational arithmetic does", () => {
    fc.assert(
      fc.property(ringsInGrid, ({ boundary }) => {
        expect(polygonOf(boundary) !== undefined).toBe(isPolygonByOracle(boundary));
      }),
      { numRuns: 1_500 },
    );
  });

  test("a square is counterclockwise and open however its ring is written", () => {
    for (const written of writings(ring([0, 0], [0, 2], [2, 2], [2, 0]))) {
      const made = polygonOf(written);
      expect(made?.latitudes).toHaveLength(4);
      let area = 0;
      for (let index = 0; index < 4; index++) {
        const [x, y] = [made?.longitudes[index] ?? 0, made?.latitudes[index] ?? 0];
        const [nextX, nextY] = [
          made?.longitudes[(index + 1) % 4] ?? 0,
          made?.latitudes[(index + 1) % 4] ?? 0,
        ];
        area += (x * nextY - nextX * y) / 2;
      }
      expect(area).toBe(4);
    }
  });

  test("a ring across the antimeridian continues from 179 to 181 degrees", () => {
    const made = polygonOf(ring([-1, 179], [-1, -179], [1, -179], [1, 179]));
    expect(Array.from(made?.longitudes ?? [])).toEqual([179, 181, 181, 179]);
  });

  test.each([
    ["at the start", "0 0, 0 0, 0 1, 1 1"],
    ["in the middle", "0 0, 0 1, 0 1, 0 1, 1 1"],
    ["at the end as well as at the start", "0 0, 0 1, 1 1, 0 0, 0 0"],
    ["within less than a unit", `0 0, 0 1, ${2 ** -50} 1, 1 1`],
  ])("a repeated vertex counts once: %s", (_, boundary) => {
    const { latitudes, longitudes } = polygonOf(ringOf("0 0, 0 1, 1 1")) ?? {};
    const repeated = polygonOf(ringOf(boundary));
    expect(repeated?.latitudes).toHaveLength(3);
    expect(new Set(repeated?.latitudes)).toEqual(new Set(latitudes));
    expect(new Set(repeated?.longitudes)).toEqual(new Set(longitudes));
  });
});
