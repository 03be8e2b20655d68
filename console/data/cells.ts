/** The positions and sizes of cells. */

import { cellArea } from "../../functions/population-density/cover/cell-area.ts";
import { cellOf, gridOf } from "../../functions/population-density/cover/geohash.ts";
import type { Box } from "./area.ts";

/** The area of a cell in km². */
export { cellArea };

/** The edges of a cell, in degrees. */
export function boundsOf(geohash: string): Box {
  const { row, column } = cellOf(geohash);
  const { cellHeight, cellWidth } = gridOf(geohash.length);
  const south = -90 + row * cellHeight;
  const west = -180 + column * cellWidth;
  return { west, south, east: west + cellWidth, north: south + cellHeight };
}

/** The ring of a cell as in GeoJSON, counter-clockwise. */
export function ringOf(geohash: string): [number, number][] {
  const { west, south, east, north } = boundsOf(geohash);
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
}

/** Width and height of the cells of a precision at a latitude, in metres. */
export function cellSize(
  precision: number,
  latitude: number,
): { readonly width: number; readonly height: number } {
  const { cellWidth, cellHeight } = gridOf(precision);
  const metresPerDegree = 111_320;
  return {
    width: cellWidth * metresPerDegree * Math.cos((latitude * Math.PI) / 180),
    height: cellHeight * metresPerDegree,
  };
}
