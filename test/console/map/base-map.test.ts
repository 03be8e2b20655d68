/** The map below the cells, as the pages get it. */
import type { FeatureCollection, MultiLineString, Polygon } from "geojson";
import { describe, expect, test } from "vitest";
import { outlines } from "../../../tools/console/outlines.ts";
import { places } from "../../../tools/console/places.ts";

const world = (JSON.parse(await outlines()) as FeatureCollection<Polygon | MultiLineString>).features.map(
  ({ geometry }) => geometry,
);
const land = world.filter((geometry) => geometry.type === "Polygon");
const borders = world.flatMap((geometry) =>
  geometry.type === "MultiLineString" ? geometry.coordinates : [],
);
const { features } = JSON.parse(await places()) as FeatureCollection;

/** Whether a point is on land, in any copy of the world that a map draws. */
function isLand(longitude: number, latitude: number): boolean {
  return land.some((geometry) =>
    [-360, 0, 360].some((world) => isInside(longitude + world, latitude, geometry)),
  );
}

/** By the even-odd rule, as on a plane. */
function isInside(longitude: number, latitude: number, { coordinates }: Polygon): boolean {
  const crossings = coordinates.flatMap((ring) =>
    ring.slice(1).filter(([x = 0, y = 0], index) => {
      const [beforeX = 0, beforeY = 0] = ring[index] ?? [];
      if (y > latitude === beforeY > latitude) return false;
      return longitude < x + ((latitude - y) / (beforeY - y)) * (beforeX - x);
    }),
  );
  return crossings.length % 2 === 1;
}

describe("outlines", () => {
  test.each([
    ["the Baltic Sea", 20, 58],
    ["the Norwegian Sea", 5, 67],
    ["the Bering Sea at the antimeridian", 180, 60],
    ["the South Pacific at the antimeridian", 180, -40],
    ["the Atlantic", -30, 40],
  ])("outlines leave %s open", (_, longitude, latitude) => {
    expect(isLand(longitude, latitude)).toBe(false);
  });

  test.each([
    ["Lyon", 4.84, 45.76],
    ["Viti Levu of Fiji", 178, -17.8],
    ["Taveuni of Fiji", -179.95, -16.8],
    ["Chukotka, west of the antimeridian", 178, 67],
    ["Chukotka, east of the antimeridian", -175, 66.5],
    ["the south pole", 0, -89],
  ])("outlines cover %s with land", (_, longitude, latitude) => {
    expect(isLand(longitude, latitude)).toBe(true);
  });

  test("outlines have no edge that jumps around the world, but along a pole", () => {
    const lines = [...land.flatMap(({ coordinates }) => coordinates), ...borders];
    const jumps = lines.flatMap((line) =>
      line
        .slice(1)
        .filter(([x = 0, y = 0], index) => Math.abs(x - (line[index]?.[0] ?? 0)) > 180 && Math.abs(y) < 90),
    );

    expect(jumps).toEqual([]);
  });
});

describe("places", () => {
  const namesOf = (kind: string) =>
    features.filter(({ properties }) => properties?.kind === kind).map(({ properties }) => properties?.name);

  test("places has the rivers, parks, communes and stations of the demo's model by their names", () => {
    expect(namesOf("river")).toEqual(expect.arrayContaining(["Rhône", "Saône"]));
    expect(namesOf("park")).toContain("Parc de la Tête d'Or");
    expect(namesOf("commune")).toEqual(expect.arrayContaining(["Lyon 3e", "Villeurbanne"]));
    expect(namesOf("station")).toContain("Part-Dieu");
  });

  test("places names other cities at all zooms, and those of the demo until their parts are named", () => {
    expect(namesOf("city")).toEqual(expect.arrayContaining(["Paris", "Boulogne-Billancourt", "Grenoble"]));
    expect(namesOf("overview")).toEqual(expect.arrayContaining(["Lyon", "Villeurbanne"]));
    expect(namesOf("city")).not.toContain("Lyon");
  });
});
