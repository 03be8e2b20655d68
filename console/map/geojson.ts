/** GeoJSON for the map's sources. */
import type { Feature, FeatureCollection, Geometry, Polygon } from "geojson";
import { ringOf } from "../data/cells.ts";
import { type Densities, isPartlyCovered, type Value } from "../data/densities.ts";
import { boxRing, type Position } from "../data/outlines.ts";

/** An empty collection. */
export const empty: FeatureCollection = { type: "FeatureCollection", features: [] };

/** A feature without properties. */
function featureOf<Kind extends Geometry>(geometry: Kind): Feature<Kind> {
  return { type: "Feature", properties: {}, geometry };
}

function collection(features: Feature[]): FeatureCollection {
  return { type: "FeatureCollection", features };
}

/**
 * A collection with lines of several kinds, which the property `kind` names.
 * @param outside a polygon of the kind `outside`: without rings, there is none.
 */
export function linesOf(
  kinds: ReadonlyMap<string, readonly Position[][]>,
  outside: readonly Position[][],
): FeatureCollection {
  const ofKind = (kind: string, geometry: Geometry) => ({ ...featureOf(geometry), properties: { kind } });
  return collection([
    ...(outside.length === 0 ? [] : [ofKind("outside", { type: "Polygon", coordinates: [...outside] })]),
    ...[...kinds].flatMap(([kind, lines]) =>
      lines.map((coordinates) => ofKind(kind, { type: "LineString", coordinates })),
    ),
  ]);
}

/** All of the world but for some rings, which become its holes. */
export function worldWithout(rings: readonly Position[][]): Position[][] {
  return [boxRing({ west: -180, south: -85, east: 180, north: 85 }), ...rings.map((ring) => [...ring])];
}

/** A ring as lines without its edges along the antimeridian, at which GeoJSON cuts polygons: nothing ends there. */
export function withoutCuts(ring: readonly Position[]): Position[][] {
  const lines: Position[][] = [];
  for (const [index, position] of ring.entries()) {
    const isCut = [ring[index - 1], position].every((end) => Math.abs(end?.[0] ?? 0) === 180);
    if (index === 0 || isCut) lines.push([]);
    lines.at(-1)?.push(position);
  }
  return lines.filter(({ length }) => length > 1);
}

/** The rectangle of a cell. */
export function rectangle(geohash: string): Feature<Polygon> {
  return featureOf({ type: "Polygon", coordinates: [ringOf(geohash)] });
}

/** The rectangles of an answer's cells; their ids are their indexes in it. */
export function rectangles({ geohashes, coveredShares, hours }: Densities): FeatureCollection {
  return collection(
    geohashes.map((geohash, id) => {
      const isEver = (type: Value["dataType"]) => hours.some(({ values }) => values[id]?.dataType === type);
      const properties: CellProperties = {
        isEverSuppressed: isEver("LOW_DENSITY"),
        isEverUnknown: isEver("NO_DATA"),
        isPartlyCovered: isPartlyCovered(coveredShares[id] ?? 1),
      };
      return { ...rectangle(geohash), id, properties };
    }),
  );
}

/** What holds for a cell in any hour: only such cells are in the layer of a pattern. */
export type CellProperties = Readonly<
  Record<"isEverSuppressed" | "isEverUnknown" | "isPartlyCovered", boolean>
>;
