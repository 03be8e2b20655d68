/** GeoJSON for the map's sources. */
import type { Feature, FeatureCollection, Geometry, Polygon } from "geojson";
import { boxAround } from "../../functions/population-density/cover/box.ts";
import { gridOf } from "../../functions/population-density/cover/geohash.ts";
import type { Area, Box, Point } from "../data/area.ts";
import { ringOf } from "../data/cells.ts";
import { type Densities, isPartlyCovered, type Value } from "../data/densities.ts";

/** Longitude and latitude, as GeoJSON and MapLibre take them. */
export type Position = [longitude: number, latitude: number];

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

/** Positions of which each is less than half the world from the one before: longitudes continue beyond 180 degrees. */
export function continuous(positions: readonly Position[]): Position[] {
  let before = positions[0]?.[0] ?? 0;
  return positions.map(([longitude, latitude]): Position => {
    before = longitude - 360 * Math.round((longitude - before) / 360);
    return [before, latitude];
  });
}

/** The position of a point. */
export function positionOf({ longitude, latitude }: Point): Position {
  return [longitude, latitude];
}

/** The closed ring of an area, also across the antimeridian. */
export function areaRing({ boundary }: Area): Position[] {
  const positions = continuous(boundary.map(positionOf));
  return positions[0] === undefined ? [] : [...positions, positions[0]];
}

/**
 * The box around all cells of a precision that areas touch, the shorter way around the globe, without what the map has
 * no room for at the poles; undefined without an area.
 */
export function boxOfCells(areas: readonly Area[], precision: number): Box | undefined {
  const { cellWidth, cellHeight } = gridOf(precision);
  const boxes = areas.map((area): Box => {
    const [longitudes, latitudes] = [0, 1].map((axis) => areaRing(area).map((place) => place[axis] ?? 0));
    const start = (degrees: readonly number[] = [], size = 1) =>
      Math.floor(Math.min(...degrees) / size) * size;
    const end = (degrees: readonly number[] = [], size = 1) => Math.ceil(Math.max(...degrees) / size) * size;
    const [west, east] = [start(longitudes, cellWidth), end(longitudes, cellWidth)];
    const isAround = east - west >= 360;
    return {
      west: isAround ? -180 : within180(west),
      south: Math.max(-85, start(latitudes, cellHeight)),
      east: isAround ? 180 : within180(east - cellWidth) + cellWidth,
      north: Math.min(85, end(latitudes, cellHeight)),
    };
  });
  return boxes.length === 0 ? undefined : boxes.reduce(boxAround);
}

/** A longitude from −180 to less than 180 degrees. */
export function within180(longitude: number): number {
  return longitude - 360 * Math.floor((longitude + 180) / 360);
}

/** The closed ring of a box, also across the antimeridian. */
export function boxRing({ west, south, east, north }: Box): Position[] {
  const end = east < west ? east + 360 : east;
  return [
    [west, south],
    [end, south],
    [end, north],
    [west, north],
    [west, south],
  ];
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
