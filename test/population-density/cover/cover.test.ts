import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countCells, coverOf, geohashesOf } from "../../../functions/population-density/cover/cover.ts";
import { type Point, type Polygon, polygonOf } from "../../../functions/population-density/cover/polygon.ts";
import { runs } from "../../support/sample.ts";
import { boxOf, coverByOracle } from "./oracle.ts";
import { largeRingsInGrid, ringsInGrid } from "./random-rings.ts";
import { ring, unit } from "./sample-rings.ts";

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

const example = ring(
  [45.754114, 4.860374],
  [45.753845, 4.863185],
  [45.75249, 4.861876],
  [45.751224, 4.861125],
  [45.751442, 4.859827],
);

/** The whole globe, by steps of less than 180 degrees. */
const world = ring(
  [-90, -180],
  [-90, -60],
  [-90, 60],
  [-90, 180],
  [90, 180],
  [90, 60],
  [90, -60],
  [90, -180],
);

/** How many times as many random polygons as usual. */
const times = Number(process.env.COVER_TIMES ?? "1");
const polygonRuns = runs(8_000, 300) * times;
const largePolygonRuns = runs(3_000, 100) * times;

describe("the cover of a polygon", () => {
  test(
    "the cover of a random polygon has exactly the cells of rational arithmetic, each once",
    () => {
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
    },
    120_000 * times,
  );

  test(
    "the cover of a random polygon of many cells has exactly the cells of rational arithmetic",
    () => {
      fc.assert(
        fc.property(largeRingsInGrid, ({ boundary, precision }) => {
          fc.pre(polygonOf(boundary) !== undefined && boxOf(boundary, precision) < 1_500);
          expect(cellsOf(boundary, precision)).toEqual(coverByOracle(boundary, precision));
        }),
        { numRuns: largePolygonRuns },
      );
    },
    120_000 * times,
  );

  test("the cover is the same from any point and in either direction, open and closed", () => {
    const cells = cellsOf(example, 8);
    const [first, ...others] = example;
    if (first === undefined) throw new Error("no points");
    expect(cellsOf(example.toReversed(), 8)).toEqual(cells);
    expect(cellsOf([...example, first], 8)).toEqual(cells);
    expect(cellsOf([...others, first], 8)).toEqual(cells);
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])(
    "the cover of a cell's own rectangle at precision %i is that cell alone",
    (precision) => {
      const height = 180 / 2 ** Math.floor((5 * precision) / 2);
      const width = 360 / 2 ** Math.ceil((5 * precision) / 2);
      const own = rectangle(0, -width, height, 0);
      expect(cellsOf(own, precision)).toEqual(coverByOracle(own, precision));
      expect(cellsOf(own, precision)).toHaveLength(1);
    },
  );

  test("the cover of the smallest polygons has one cell", () => {
    const near = 2e-9;
    expect(cellsOf(ring([0, 0], [0, near], [near, 0]), 7)).toEqual(["s000000"]);
    expect(cellsOf(ring([-near, 0], [-near, -near], [0, -near]), 12)).toEqual(["7zzzzzzzzzzz"]);
    const above = 1 + near;
    expect(cellsOf(ring([1, 1], [1, above], [above, 1]), 12)).toHaveLength(1);
  });

  test("the cover of a tiny polygon around a corner has the four cells at the corner", () => {
    const around = rectangle(-1e-9, -1e-9, 1e-9, 1e-9);
    expect(cellsOf(around, 6)).toEqual(["7zzzzz", "ebpbpb", "kpbpbp", "s00000"].sort());
    expect(cellsOf(around, 6)).toEqual(coverByOracle(around, 6));
  });

  test.each([
    ["a diagonal through the corners of cells", ring([0, 0], [45 / 32, 0], [45 / 32, 45 / 32]), 5],
    ["the other diagonal", ring([0, 0], [0, 45 / 32], [45 / 32, 0]), 5],
    ["a diagonal one unit beside", ring([unit, 0], [45 / 32, 0], [45 / 32, 45 / 32]), 5],
    ["a sliver of degrees along a border", ring([0, -4], [1e-9, 0], [0, 4]), 4],
    ["a bend of one unit across a border", ring([0, -4], [unit, 0], [0, 4], [-1, 0]), 4],
    ["a sliver across the globe's longest edge", ring([10, -90], [10.001, 89], [10, 89]), 3],
    [
      "a side on a border, in a row with another vertex",
      ring([0, 0], [0, 9], [0.01, 9.1], [3, 9], [3, 0]),
      4,
    ],
    ["a comb of thin teeth", comb(5), 4],
    ["a ring inside one cell with a hole-like bay", bay(), 5],
  ])("the cover is exact for %s", (_, boundary, precision) => {
    expect(cellsOf(boundary, precision)).toEqual(coverByOracle(boundary, precision));
  });

  test.each([
    ["north", rectangle(80, -10, 90, 10), 3],
    ["south", rectangle(-90, 100, -80, 170), 3],
    ["north, as one vertex", ring([85, 0], [85, 10], [90, 5]), 4],
    ["both", rectangle(-90, 0, 90, 1), 2],
  ])("the cover is exact up to a pole: %s", (_, boundary, precision) => {
    expect(cellsOf(boundary, precision)).toEqual(coverByOracle(boundary, precision));
  });

  test("the cover continues beyond the antimeridian, with the same cells from either side", () => {
    const fromWest = ring([-1, 179], [-1, -179], [1, -179], [1, 179]);
    const fromEast = ring([1, -179], [1, 179], [-1, 179], [-1, -179]);
    const cells = cellsOf(fromWest, 5);
    expect(cells).toEqual(coverByOracle(fromWest, 5));
    expect(cellsOf(fromEast, 5)).toEqual(cells);
    expect(cells.length).toBe(countCells(polygon(rectangle(-1, -1, 1, 1)), 5));
  });

  test("the cover ends at the antimeridian, written as 180 or as -180", () => {
    const east = ring([0, 180], [0, 179], [1, 179], [1, 180]);
    const west = ring([0, -180], [0, 179], [1, 179], [1, -180]);
    expect(cellsOf(east, 4)).toEqual(coverByOracle(east, 4));
    expect(cellsOf(west, 4)).toEqual(cellsOf(east, 4));
  });

  test("the cover across the antimeridian is exact for a side on longitude 0 and one unit beside it", () => {
    for (const [precision, rows] of [
      [3, 1],
      [4, 6],
    ] as const) {
      for (const [east, entered] of [
        [-unit, 0],
        [0, 0],
        [unit, rows],
      ] as const) {
        const boundary = ring([0, 100], [0, -120], [0, east], [1, east], [1, -120], [1, 100]);
        const cells = cellsOf(boundary, precision);
        expect(cells).toEqual(coverByOracle(boundary, precision));
        expect(cells.filter((geohash) => geohash.startsWith("s"))).toHaveLength(entered);
      }
    }
  });

  test("the cover is exact for edges that rise by one unit over the whole map", () => {
    for (const precision of [1, 2, 3, 4]) {
      for (const north of [0, unit, 45 - unit, 45, 45 + unit]) {
        const boundary = ring([north, -89], [north + unit, 89], [north - 1, 0]);
        expect(cellsOf(boundary, precision)).toEqual(coverByOracle(boundary, precision));
      }
    }
  });

  test("the cover is exact for a sliver whose sides start and end in the same cells", () => {
    // The sliver passes a corner half-way, 0.6 columns for each row.
    const cell = 45 / 1024;
    const points = ring(
      [0.5 * cell, 2.5 * cell],
      [5.5 * cell, (5.5 - 1e-7) * cell],
      [5.5 * cell, (5.5 + 1e-7) * cell],
    );
    for (const start of [0, 1, 2]) {
      const turned = [...points.slice(start), ...points.slice(0, start)];
      for (const boundary of [turned, turned.toReversed()]) {
        expect(cellsOf(boundary, 5)).toEqual(coverByOracle(boundary, 5));
      }
    }
  });

  test("the cover of a polygon around the globe has each cell once", () => {
    const almost = ring([3, -179], [3, -60], [3, 60], [3, 178.9], [9, 178.9], [9, 60], [9, -60], [9, -179]);
    const spiral = ring(
      [0, -100],
      [5, 0],
      [10, 100],
      [15, -150],
      [20, -40],
      [21, -40],
      [16, -150],
      [11, 100],
      [6, 0],
      [1, -100],
    );
    for (const precision of [1, 2, 3]) {
      expect(cellsOf(world, precision)).toHaveLength(32 ** precision);
      for (const boundary of [almost, spiral]) {
        expect(cellsOf(boundary, precision)).toEqual(coverByOracle(boundary, precision));
      }
    }
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
  }, 120_000);

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

/** Teeth that are narrower than cells and farther apart. */
function comb(teeth: number): Point[] {
  const points: [number, number][] = [];
  for (let tooth = 0; tooth < teeth; tooth++)
    points.push([3, tooth], [0.5, tooth + 0.01], [0.5, tooth + 0.99]);
  return ring(...points, [0, teeth], [0, 0]);
}

/** A bay that reaches into a polygon from below, all within a few cells. */
function bay(): Point[] {
  return ring([0, 0], [0, 0.02], [0.05, 0.021], [0, 0.022], [0, 0.2], [0.1, 0.2], [0.1, 0]);
}
