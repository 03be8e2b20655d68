import { expect, test } from "vitest";
import { boxOf } from "../../functions/population-density/cover/box.ts";
import { coverOf, geohashesOf } from "../../functions/population-density/cover/cover.ts";
import { suffixesOf } from "../../functions/population-density/cover/geohash.ts";
import { polygonOf } from "../../functions/population-density/cover/polygon.ts";
import { coverageAt } from "../../functions/population-density/import/coverage.ts";
import { isCovered } from "../../functions/population-density/tiles/tile.ts";
import { ImportError } from "../../shared/import/import-error.ts";
import { readArea } from "../../tools/import/density/area.ts";
import { useOwnFolder } from "../support/own-folder.ts";

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

test.each([
  ["a polygon", polygon(west), [west]],
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
          { type: "MultiPolygon", coordinates: [] },
        ],
      }),
    ),
    [west, east],
  ],
  ["a clockwise ring with altitudes", polygon(west.map((place) => [...place, 300]).toReversed()), [west]],
])("--coverage returns the cells that share area with %s", async (_, content, rings) => {
  for (const precision of [2, 3, 6, 7]) {
    expect(await geohashesIn(content, precision)).toEqual(geohashesOfRings(precision, ...rings));
  }
});

test("--coverage leaves out a feature without a geometry and points of labels, and says which", async () => {
  const label = { type: "Point", coordinates: [4.82, 45.75] };
  const labels = { type: "MultiPoint", coordinates: [label.coordinates] };
  const pair = { type: "GeometryCollection", geometries: [polygon(east), label] };
  const content = features(
    feature(null),
    feature(polygon(west)),
    feature(label),
    feature(pair),
    feature(labels),
  );
  const remarks: string[] = [];
  const path = await folder.write("labelled.geojson", content);
  const { polygons } = await readArea(path, (remark) => remarks.push(remark));
  expect(polygons).toEqual((await areaIn(features(feature(polygon(west)), feature(polygon(east))))).polygons);
  expect(remarks).toEqual([
    "labelled.geojson: left out, as they have no area: features.0.geometry (no geometry), " +
      "features.2.geometry (Point), features.3.geometry.geometries.1 (Point), 1 more",
  ]);
});

test("--coverage leaves out exactly the cells that are wholly in a hole", async () => {
  const lake = { west: 4.812, south: 45.72, east: 4.84, north: 45.77 };
  const hole: Ring = [
    [lake.west, lake.south],
    [lake.east, lake.south],
    [lake.east, lake.north],
    [lake.west, lake.north],
    [lake.west, lake.south],
  ];
  for (const precision of [5, 6, 7]) {
    const dry = geohashesOfRings(precision, west).filter((geohash) => {
      const box = boxOf(geohash);
      const isAcross = box.west < lake.west || box.east > lake.east;
      return isAcross || box.south < lake.south || box.north > lake.north;
    });
    expect(await geohashesIn(polygon(west, hole), precision)).toEqual(dry);
  }
});

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
  ["a longitude that is a latitude too far", polygon([[181, 0], ...west]), "coordinates.0.0.0: "],
  ["a latitude beyond a pole", polygon([[0, 90.1], ...west]), "coordinates.0.0.1: "],
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
  ["a line", feature({ type: "LineString", coordinates: [[1, 2]] }), "geometry.type: must be Polygon"],
  ["a feature without `geometry`", { type: "Feature", properties: {} }, "geometry: "],
  ["points alone", feature({ type: "Point", coordinates: [1, 2] }), "has no polygon"],
  ["a topology", { type: "Topology" }, "type: "],
  ["a number", 7, "the file: "],
  ["an empty collection", features(), "has no polygon"],
])("--coverage refuses %s, and names the place in the file", async (_, content, message) => {
  const read = areaIn(content);
  await expect(read).rejects.toThrow(ImportError);
  await expect(read).rejects.toThrow(`area.geojson: ${message}`);
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
