import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { coverOf, geohashesOf } from "../../functions/population-density/cover/cover.ts";
import { cellOf, gridOf, suffixesOf } from "../../functions/population-density/cover/geohash.ts";
import { polygonOf } from "../../functions/population-density/cover/polygon.ts";
import { coverageAt } from "../../functions/population-density/import/coverage.ts";
import { isCovered } from "../../functions/population-density/tiles/tile.ts";
import { ImportError } from "../../shared/import/import-error.ts";
import { readArea } from "../../tools/import/density/area.ts";
import { useOwnFolder } from "../support/own-folder.ts";
import { isWhole } from "../support/sample.ts";

const folder = useOwnFolder();

type Ring = readonly (readonly number[])[];

const west: Ring = [
  [4.8, 45.7],
  [4.85, 45.7],
  [4.85, 45.8],
  [4.8, 45.8],
  [4.8, 45.7],
];
const east: Ring = [
  [4.82, 45.72],
  [4.9, 45.72],
  [4.9, 45.78],
  [4.82, 45.72],
];

const polygon = (...rings: Ring[]) => ({ type: "Polygon", coordinates: rings });
const feature = (geometry: unknown) => ({ type: "Feature", properties: { name: "x" }, geometry });
const features = (...each: unknown[]) => ({ type: "FeatureCollection", features: each });

async function areaIn(content: unknown) {
  return await readArea(await folder.write("area.geojson", content));
}

async function geohashesIn(content: unknown, precision: number): Promise<string[]> {
  const suffixes = suffixesOf(precision);
  return [...coverageAt(await areaIn(content), precision)]
    .flatMap(([tile, coverage]) =>
      suffixes.filter((_, cell) => isCovered(coverage, cell)).map((suffix) => tile + suffix),
    )
    .sort();
}

function geohashesOfRings(precision: number, ...rings: Ring[]): string[] {
  const covers = rings.map((ring) => {
    const found = polygonOf(ring.map(([longitude = 0, latitude = 0]) => ({ latitude, longitude })));
    if (found === undefined) throw new Error("not a polygon");
    return geohashesOf(coverOf(found, precision), precision);
  });
  return [...new Set(covers.flat())].sort();
}

describe("the coverage of an area", () => {
  test.each([
    ["a polygon", polygon(west), [west]],
    ["a feature", feature(polygon(west)), [west]],
    ["several polygons", { type: "MultiPolygon", coordinates: [[west], [east]] }, [west, east]],
    ["a collection of features", features(feature(polygon(west)), feature(polygon(east))), [west, east]],
    [
      "collections in collections",
      features(
        feature({
          type: "GeometryCollection",
          geometries: [
            { type: "GeometryCollection", geometries: [polygon(east)] },
            { type: "MultiPolygon", coordinates: [[west]] },
          ],
        }),
      ),
      [west, east],
    ],
    ["a clockwise ring with altitudes", polygon(west.map((place) => [...place, 300]).toReversed()), [west]],
    [
      "a polygon and an empty MultiPolygon",
      { type: "GeometryCollection", geometries: [polygon(west), { type: "MultiPolygon", coordinates: [] }] },
      [west],
    ],
  ])("--coverage returns the cells that share area with %s", async (_, content, rings) => {
    for (const precision of [2, 3, 6, 7]) {
      expect(await geohashesIn(content, precision)).toEqual(geohashesOfRings(precision, ...rings));
    }
  });

  test("--coverage leaves out the cells that are wholly in a hole", async () => {
    const lake: Ring = [
      [4.812, 45.72],
      [4.84, 45.721],
      [4.838, 45.77],
      [4.813, 45.765],
      [4.812, 45.72],
    ];
    const island: Ring = [
      [4.803, 45.78],
      [4.808, 45.78],
      [4.808, 45.79],
      [4.803, 45.78],
    ];
    for (const precision of [5, 6, ...(isWhole ? [7] : [])]) {
      const [whole, wet] = [geohashesOfRings(precision, west), geohashesOfRings(precision, lake, island)];
      const inside = await geohashesIn(polygon(west, lake, island), precision);
      // What shares area with the polygon alone, seen at cells that are 1,024 times as small.
      const finer = precision + 2;
      const dry = new Set(geohashesOfRings(finer, west));
      for (const geohash of wholeCellsOf(lake, finer)) dry.delete(geohash);
      for (const geohash of wholeCellsOf(island, finer)) dry.delete(geohash);
      const shared = new Set([...dry].map((geohash) => geohash.slice(0, precision)));
      expect(inside).toEqual([...shared].sort());
      expect(inside.length).toBeLessThanOrEqual(whole.length);
      if (precision === 7) expect(whole.length - inside.length).toBeGreaterThan(wet.length / 2);
    }
  });

  /** The cells of a ring of which all four corners and the middle are inside: exact for a convex one. */
  function wholeCellsOf(ring: Ring, precision: number): string[] {
    const { cellHeight, cellWidth } = gridOf(precision);
    const isLeft = (
      [x = 0, y = 0]: readonly number[],
      [toX = 0, toY = 0]: readonly number[],
      east: number,
      north: number,
    ) => (toX - x) * (north - y) - (toY - y) * (east - x) >= 0;
    const isInside = (east: number, north: number) =>
      ring.slice(1).every((to, index) => isLeft(ring[index] ?? to, to, east, north));
    return geohashesOfRings(precision, ring).filter((geohash) => {
      const { row, column } = cellOf(geohash);
      const [south, west] = [row * cellHeight - 90, column * cellWidth - 180];
      return [0, 1].every((up) =>
        [0, 1].every((right) => isInside(west + right * cellWidth, south + up * cellHeight)),
      );
    });
  }

  test("--coverage returns cells on both sides of the antimeridian", async () => {
    const ring = [
      [179.9, 0.1],
      [-179.9, 0.1],
      [-179.9, 0.2],
      [179.9, 0.2],
      [179.9, 0.1],
    ];
    const geohashes = await geohashesIn(polygon(ring), 4);
    expect(geohashes.map((geohash) => geohash.charAt(0))).toEqual(expect.arrayContaining(["8", "x"]));
    expect(geohashes.length).toBeLessThan(10);
  });
});

describe("an area that is refused", () => {
  const eight: Ring = [
    [0, 0],
    [1, 1],
    [1, 0],
    [0, 1],
    [0, 0],
  ];
  const flat: Ring = [
    [0, 0],
    [1, 1],
    [2, 2],
    [0, 0],
  ];
  const unmet = "must have an area, and edges that do not meet";

  test.each([
    [
      "a hole that is not inside",
      features(feature(polygon(west, east))),
      "features.0.geometry.coordinates.0: must have its holes inside",
    ],
    ["a hole without an area", polygon(west, flat), "coordinates.1: must have an area"],
    ["a hole that is open", polygon(west, east.slice(0, -1)), "coordinates.1: must end where it begins"],
    ["a polygon without a ring", polygon(), "coordinates: must have a ring"],
    [
      "a latitude that is a longitude",
      polygon([[45.7, 104.8], ...west]),
      "coordinates.0.0.1: must be from -90 to 90: in GeoJSON the longitude comes first; latitude and longitude swapped?",
    ],
    ["a ring that is open", polygon(west.slice(0, -1)), "coordinates.0: must end where it begins"],
    ["a ring of three positions", polygon(east.slice(1)), "coordinates.0: "],
    ["a longitude that is a latitude too far", polygon([[181, 0], ...west]), "coordinates.0.0.0: "],
    ["a latitude beyond a pole", polygon([[0, 90.1], ...west]), "coordinates.0.0.1: "],
    ["a position that is none", polygon([[0], ...west]), "coordinates.0.0.1: "],
    [
      "edges that cross",
      features(feature(polygon(west)), feature(polygon(eight))),
      `features.1.geometry.coordinates: ${unmet}`,
    ],
    [
      "edges that cross, in one of many",
      { type: "MultiPolygon", coordinates: [[west], [eight]] },
      `coordinates.1: ${unmet}`,
    ],
    [
      "a polygon without an area",
      { type: "GeometryCollection", geometries: [polygon(flat)] },
      `geometries.0.coordinates: ${unmet}`,
    ],
    ["a geometry that is a point", feature({ type: "Point", coordinates: [1, 2] }), "geometry.type: "],
    ["a feature without a geometry", feature(null), "geometry: "],
    ["a topology", { type: "Topology" }, "type: "],
    ["a number", 7, "the file: "],
    ["an empty collection", features(), "has no polygon"],
    ["text that is not JSON", "{", "is not JSON"],
  ])("--coverage refuses %s, and names the place in the file", async (_, content, message) => {
    const read = areaIn(content);
    await expect(read).rejects.toThrow(ImportError);
    await expect(read).rejects.toThrow(`area.geojson: ${message}`);
  });

  test("--coverage refuses a missing file", async () => {
    await expect(readArea(join(folder.path, "absent.geojson"))).rejects.toThrow(
      "absent.geojson: cannot be read: ENOENT",
    );
  });

  test("--coverage refuses a polygon of more cells than can be listed", async () => {
    const area = await areaIn(
      polygon([
        [-80, -80],
        [80, -80],
        [80, 80],
        [-80, 80],
        [-80, -80],
      ]),
    );
    expect(coverageAt(area, 3).size).toBeGreaterThan(10);
    expect(() => coverageAt(area, 8)).toThrow(ImportError);
    expect(() => coverageAt(area, 8)).toThrow(
      "area.geojson: a polygon has more than 134217728 cells of precision 8",
    );
  });
});
