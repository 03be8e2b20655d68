/** The outlines of areas and boxes as rings of positions, also across the antimeridian. */
import { boxAround } from "../../functions/population-density/cover/box.ts";
import { gridOf } from "../../functions/population-density/cover/geohash.ts";
import type { Polygon } from "../../functions/population-density/cover/polygon.ts";
import type { Area, Box, Point } from "./area.ts";

/** Longitude and latitude, as GeoJSON and MapLibre take them. */
export type Position = [longitude: number, latitude: number];

/** Places of GeoJSON, one after the other; the last may be the first again. */
export type Ring = readonly (readonly number[])[];

/** The corners of a polygon, also beyond 180 degrees. */
export function cornersOf({ longitudes, latitudes }: Polygon): Position[] {
  return Array.from(longitudes, (longitude, index) => [longitude, latitudes[index] ?? 0]);
}

/** The box around a ring, which goes on beyond 180 degrees. */
export function boxOfRing(ring: Ring): Box {
  const [longitudes, latitudes] = [ring.map(([x = 0]) => x), ring.map(([, y = 0]) => y)];
  return {
    west: Math.min(...longitudes),
    south: Math.min(...latitudes),
    east: Math.max(...longitudes),
    north: Math.max(...latitudes),
  };
}

/** The area of a ring on a sphere: that between it and the equator (Chamberlain and Duquette). */
export function squareKilometresOf(ring: Ring): number {
  const radians = Math.PI / 180;
  const sum = ring.reduce((total, [x1 = 0, y1 = 0], index) => {
    const [x2 = 0, y2 = 0] = ring[(index + 1) % ring.length] ?? [];
    return total + (x2 - x1) * (Math.sin(y1 * radians) + Math.sin(y2 * radians));
  }, 0);
  const kilometresPerDegree = 111.32;
  return Math.abs((sum * kilometresPerDegree ** 2) / radians / 2);
}

/** The longitudes at which a parallel crosses rings, ascending. */
export function crossingsAt(latitude: number, rings: readonly Ring[]): number[] {
  const crossings: number[] = [];
  for (const ring of rings) {
    for (const [index, [x1 = 0, y1 = 0]] of ring.entries()) {
      const [x2 = 0, y2 = 0] = ring[(index + 1) % ring.length] ?? [];
      if (y1 > latitude === y2 > latitude) continue;
      crossings.push(x1 + ((latitude - y1) / (y2 - y1)) * (x2 - x1));
    }
  }
  return crossings.sort((one, other) => one - other);
}

/** Whether a ray to the east crosses the rings an odd number of times: a hole is not in its polygon. */
export function isWithin([longitude = 0, latitude = 0]: readonly number[], rings: readonly Ring[]): boolean {
  return crossingsAt(latitude, rings).filter((crossing) => crossing > longitude).length % 2 === 1;
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
    const box = boxOfRing(areaRing(area));
    const start = (degrees: number, size: number) => Math.floor(degrees / size) * size;
    const end = (degrees: number, size: number) => Math.ceil(degrees / size) * size;
    const [west, east] = [start(box.west, cellWidth), end(box.east, cellWidth)];
    const isAround = east - west >= 360;
    return {
      west: isAround ? -180 : within180(west),
      south: Math.max(-85, start(box.south, cellHeight)),
      east: isAround ? 180 : within180(east - cellWidth) + cellWidth,
      north: Math.min(85, end(box.north, cellHeight)),
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
