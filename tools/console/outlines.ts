/** The land below the cells, and the borders on it. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Feature, FeatureCollection, MultiLineString, Polygon } from "geojson";
import { merge, mesh } from "topojson-client";
import { presimplify, simplify } from "topojson-simplify";
import type * as topojson from "topojson-specification";
import { continuous, type Position } from "../../console/data/outlines.ts";
import type { OutlineProperties } from "../../console/map/places.ts";

const require = createRequire(import.meta.url);

/** Corners that span less, in square degrees, are left out: where cells are, the ground is in pieces with more detail. */
const minCornerArea = 0.01;

type Country = (topojson.Polygon | topojson.MultiPolygon) & {
  readonly properties?: { readonly name?: string };
};

const atlases = {
  "1:50 million": require.resolve("world-atlas/countries-50m.json"),
  "1:10 million": require.resolve("world-atlas/countries-10m.json"),
} as const;

/** The countries of Natural Earth, without corners that span less than some square degrees. */
export async function countriesIn(scale: keyof typeof atlases, minArea: number) {
  const text = await readFile(atlases[scale], "utf8");
  const whole = JSON.parse(text) as topojson.Topology<{ countries: topojson.GeometryCollection }>;
  const topology = simplify(presimplify(whole), minArea);
  const { countries } = topology.objects;
  const borders = mesh(topology, countries, (one, other) => one !== other).coordinates as Position[][];
  return { topology, countries: countries.geometries as Country[], borders };
}

/** Land, and the borders on it. */
type Outlines = FeatureCollection<Polygon | MultiLineString, OutlineProperties>;

/**
 * Land without borders, and the borders between countries, as GeoJSON without names, in as much detail as the map shows
 * before it shows cells. The rings of the source jump from 180 degrees to −180: here their longitudes continue, or all
 * that is between would be land.
 */
export async function outlines(): Promise<string> {
  const { topology, countries, borders } = await countriesIn("1:50 million", minCornerArea);
  const land = merge(topology, countries).coordinates as Position[][][];
  const polygons = land
    .map((rings) => rings.filter(isWide).map(planarRing).map(rounded))
    .filter((rings) => rings.length > 0);
  const collection: Outlines = {
    type: "FeatureCollection",
    features: [
      ...polygons.map((coordinates) => outline("land", { type: "Polygon", coordinates })),
      outline("border", { type: "MultiLineString", coordinates: borders.map(rounded) }),
    ],
  };
  return JSON.stringify(collection);
}

function outline<Geometry extends Polygon | MultiLineString>(
  kind: OutlineProperties["kind"],
  geometry: Geometry,
): Feature<Geometry, OutlineProperties> {
  return { type: "Feature", properties: { kind }, geometry };
}

/** Whether a ring has any width: the first one of Antarctica is the pole alone. */
function isWide(ring: readonly Position[]): boolean {
  return ring.some(([longitude]) => longitude !== ring[0]?.[0]);
}

/** The ring on a plane. One that goes around the world, as Antarctica's does, is closed along its pole. */
function planarRing(ring: readonly Position[]): Position[] {
  const positions = continuous(ring);
  const [first, last] = [positions[0], positions.at(-1)];
  if (first === undefined || last === undefined || first[0] === last[0]) return positions;
  const pole = 90 * Math.sign(first[1]);
  return [...positions, [last[0], pole], [first[0], pole], first];
}

/** To about a kilometre. */
function rounded(positions: readonly Position[]): Position[] {
  const round = (degrees: number) => Math.round(degrees * 100) / 100;
  return positions.map(([longitude, latitude]): Position => [round(longitude), round(latitude)]);
}
