import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countCells, coverOf, geohashesOf } from "../../../functions/population-density/cover/cover.ts";
import { type Point, type Polygon, polygonOf } from "../../../functions/population-density/cover/polygon.ts";
import { runs } from "../../support/sample.ts";
import { boxOf, coverByOracle } from "./oracle.ts";
import { largeRingsInGrid, ringsInGrid } from "./random-rings.ts";
import { ring, ringOf, unit } from "./sample-rings.ts";

function polygon(boundary: readonly Point[]): Polygon {
  const made = polygonOf(boundary);
  if (made === undefined) throw new Error(`not a polygon: ${JSON.stringify(boundary)}`);
  return made;
}

/** The geohashes of a cover, after it was seen to be in order, without duplicates and as many as were counted. */
function cellsOf(boundary: readonly Point[], precision: number): string[] {
  const made = polygon(boundary);
  const cover = coverOf(made, precision);
  const geohashes = geohashesOf(cover, precision);
  const inOrder = [...new Set(geohashes)].sort();
  const tiles = new Set(cover.map(({ geohash }) => geohash)).size;
  expect([geohashes, countCells(made, precision), tiles]).toEqual([inOrder, geohashes.length, cover.length]);
  return geohashes;
}

function rectangle(south: number, west: number, north: number, east: number): Point[] {
  return ring([south, west], [south, east], [north, east], [north, west]);
}

/** The whole globe, by steps of less than 180 degrees. */
const world = ringOf("-90 -180, -90 -60, -90 60, -90 180, 90 180, 90 60, 90 -60, 90 -180");

/** Teeth that are narrower than cells and farther apart. */
function comb(teeth: number): Point[] {
  const points: [number, number][] = [];
  for (let tooth = 0; tooth < teeth; tooth++)
    points.push([3, tooth], [0.5, tooth + 0.01], [0.5, tooth + 0.99]);
  return ring(...points, [0, teeth], [0, 0]);
}

const belt = ring([3, -179], [3, -60], [3, 60], [3, 178.9], [9, 178.9], [9, 60], [9, -60], [9, -179]);
const spiral = ringOf("0 -100, 5 0, 10 100, 15 -150, 20 -40, 21 -40, 16 -150, 11 100, 6 0, 1 -100");

/** In degrees that are cells of precision 5: it passes a corner half-way, 0.6 columns for each row. */
const sliver = ringOf("0.5 2.5, 5.5 5.4999999, 5.5 5.5000001").map(({ latitude, longitude }) => ({
  latitude: (latitude * 45) / 1_024,
  longitude: (longitude * 45) / 1_024,
}));

const polygonRuns = runs(8_000, 300);
const largePolygonRuns = runs(3_000, 100);

describe("the cover of a polygon", () => {
  test("covering a random polygon finds the same cells as exact rational arithmetic, each once", () => {
    let polygons = 0;
    const precisions = new Set<number>();
    fc.assert(
      fc.property(ringsInGrid, ({ boundary, precision }) => {
        fc.pre(polygonOf(boundary) !== undefined && boxOf(boundary, precision) < 150);
        expect(cellsOf(boundary, precision)).toEqual(coverByOracle(boundary, precision));
        polygons++;
        precisions.add(precision);
      }),
      { numRuns: polygonRuns },
    );
    expect(polygons).toBeGreaterThanOrEqual(polygonRuns);
    expect(precisions.size).toBe(12);
  });

  test("covering a random polygon whose box has up to 1,500 cells finds the same cells as exact rational arithmetic", () => {
    fc.assert(
      fc.property(largeRingsInGrid, ({ boundary, precision }) => {
        fc.pre(polygonOf(boundary) !== undefined && boxOf(boundary, precision) < 1_500);
        expect(cellsOf(boundary, precision)).toEqual(coverByOracle(boundary, precision));
      }),
      { numRuns: largePolygonRuns },
    );
  });

  test.each<[string, readonly Point[], readonly number[]]>([
    ["a diagonal through the corners of cells", ring([0, 0], [45 / 32, 0], [45 / 32, 45 / 32]), [5]],
    ["a diagonal one unit away", ring([unit, 0], [45 / 32, 0], [45 / 32, 45 / 32]), [5]],
    ["a tiny polygon around a corner of four cells", rectangle(-1e-9, -1e-9, 1e-9, 1e-9), [6]],
    ["a sliver of degrees along a border", ring([0, -4], [1e-9, 0], [0, 4]), [4]],
    ["a bend of one unit across a border", ring([0, -4], [unit, 0], [0, 4], [-1, 0]), [4]],
    ["a sliver across the globe's longest edge", ring([10, -90], [10.001, 89], [10, 89]), [3]],
    ...[0, 45 - unit, 45].map((north): [string, Point[], number[]] => [
      `an edge that rises by one unit over the map, from ${north}`,
      ring([north, -89], [north + unit, 89], [north - 1, 0]),
      [1, 2, 3, 4],
    ]),
    ["a side on a border, in a row with a vertex", ring([0, 0], [0, 9], [0.01, 9.1], [3, 9], [3, 0]), [4]],
    ["a sliver whose sides start and end in the same cells", sliver, [5]],
    ["a comb of thin teeth", comb(5), [4]],
    [
      "a bay within one cell",
      ring([0, 0], [0, 0.02], [0.05, 0.021], [0, 0.022], [0, 0.2], [0.1, 0.2], [0.1, 0]),
      [5],
    ],
    ["the north pole", rectangle(80, -10, 90, 10), [3]],
    ["the north pole as one vertex", ring([85, 0], [85, 10], [90, 5]), [4]],
    ["both poles", rectangle(-90, 0, 90, 1), [2]],
    ["the antimeridian", ring([-1, 179], [-1, -179], [1, -179], [1, 179]), [5]],
    ["the antimeridian as an edge, written as 180", ring([0, 180], [0, 179], [1, 179], [1, 180]), [4]],
    ["the antimeridian as an edge, written as -180", ring([0, -180], [0, 179], [1, 179], [1, -180]), [4]],
    ...[-unit, 0, unit].map((east): [string, Point[], number[]] => [
      `the antimeridian, with a side at longitude ${east}`,
      ring([0, 100], [0, -120], [0, east], [1, east], [1, -120], [1, 100]),
      [3, 4],
    ]),
    ["a belt around the globe", belt, [1, 2, 3]],
    ["a spiral around the globe", spiral, [1, 2, 3]],
  ])("the cover is exact for %s", (_, boundary, precisions) => {
    for (const precision of precisions) {
      const cells = coverByOracle(boundary, precision);
      const turned = [...boundary.slice(1), ...boundary.slice(0, 1)];
      for (const written of [boundary, turned, boundary.toReversed(), [...boundary, ...boundary.slice(0, 1)]])
        expect(cellsOf(written, precision)).toEqual(cells);
    }
  });

  test("the cover of the smallest polygons, next to the equator and the meridian, has one cell", () => {
    const near = 2e-9;
    expect(cellsOf(ring([0, 0], [0, near], [near, 0]), 7)).toEqual(["s000000"]);
    expect(cellsOf(ring([-near, 0], [-near, -near], [0, -near]), 12)).toEqual(["7zzzzzzzzzzz"]);
  });

  test("the cover of the whole globe has every cell once", () => {
    for (const precision of [1, 2, 3]) expect(cellsOf(world, precision)).toHaveLength(32 ** precision);
  });

  test("the cells of the whole globe at precision 12 are refused before they fill the memory", () => {
    expect(() => coverOf(polygon(world), 12)).toThrow(RangeError);
  });
});

describe("countCells", () => {
  test("the cells of the whole globe at precision 12 are counted without a step for each of its 2^30 rows", () => {
    const globe = polygon(world);
    for (let time = 0; time < 100; time++) countCells(globe, 12);
    const count = countCells(globe, 12);
    expect(count).toBeLessThanOrEqual(2 ** 60);
    expect(count).toBeGreaterThan(0.999 * 2 ** 60);
  });

  test("cells are counted exactly up to the limit, and above it with a number between limit and truth", () => {
    fc.assert(
      fc.property(ringsInGrid, fc.integer({ min: 1, max: 40 }), ({ boundary, precision }, limit) => {
        const made = polygonOf(boundary);
        fc.pre(made !== undefined && boxOf(boundary, precision) < 150);
        if (made === undefined) return;
        const exact = countCells(made, precision);
        const count = countCells(made, precision, limit);
        expect(count).toBeLessThanOrEqual(exact);
        if (exact > limit) expect(count).toBeGreaterThan(limit);
        else expect(count).toBe(exact);
      }),
      { numRuns: runs(1_000, 300) },
    );
  });

  test("cells are counted exactly over several hundred thousand rows", () => {
    // Two columns of cells on either side of longitude 0, from the equator to latitude 30.
    const made = polygon(rectangle(0, -1e-9, 30, 1e-9));
    expect(countCells(made, 9)).toBe(2 * Math.ceil(30 / (180 / 2 ** 22)));
  });
});
