import type { FeatureCollection, MultiLineString, Polygon } from "geojson";
import { feature, mesh } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import { continuous, featureOf, type Position } from "./geojson.ts";

/** The countries as `tools/console/outlines.ts` writes them. */
export type OutlineTopology = Topology<{ countries: GeometryCollection }>;

/**
 * Makes polygons and borders of the countries. The rings of TopoJSON jump from 180 degrees to −180: here their
 * longitudes continue, or all that is between would be land.
 */
export function outlinesOf(topology: OutlineTopology): {
  readonly land: FeatureCollection<Polygon>;
  readonly borders: MultiLineString;
} {
  const { countries } = topology.objects;
  const polygons = feature(topology, countries).features.flatMap(({ geometry }) => {
    if (geometry.type === "Polygon") return [geometry.coordinates];
    return geometry.type === "MultiPolygon" ? geometry.coordinates : [];
  });
  const coordinates = polygons.map((rings) => (rings as Position[][]).filter(isWide).map(planarRing));
  return {
    land: {
      type: "FeatureCollection",
      features: coordinates.map((rings) => featureOf({ type: "Polygon", coordinates: rings })),
    },
    borders: mesh(topology, countries, (one, other) => one !== other),
  };
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
