/** The outlines of areas and boxes as rings of positions, also across the antimeridian. */
import { boxAround } from "../../functions/population-density/cover/box.ts";
import { gridOf } from "../../functions/population-density/cover/geohash.ts";
import type { Area, Box, Point } from "./area.ts";

/** Longitude and latitude, as GeoJSON and MapLibre take them. */
export type Position = [longitude: number, latitude: number];

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
