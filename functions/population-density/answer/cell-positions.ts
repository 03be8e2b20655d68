import ngeohash from "ngeohash";
import { codeAt, gridOf, tileSide } from "../cover/geohash.ts";
import { type Ascii, asciiOf } from "./ascii.ts";

/** The row and the column of each cell of a tile, counted from the south-west. */
export interface CellPositions {
  readonly rows: Uint8Array;
  readonly columns: Uint8Array;
}

/** The positions of the cells in every tile of a precision. */
export function cellPositionsOf(precision: number): CellPositions {
  const rows = new Uint8Array(tileSide * tileSide);
  const columns = new Uint8Array(tileSide * tileSide);
  for (let row = 0; row < tileSide; row++) {
    for (let column = 0; column < tileSide; column++) {
      const cell = codeAt(row, column, precision);
      rows[cell] = row;
      columns[cell] = column;
    }
  }
  return { rows, columns };
}

/** Degrees of the rows of a tile from the south to the north, and of its columns from the west to the east. */
export interface TileDegrees {
  readonly latitudes: readonly Ascii[];
  readonly longitudes: readonly Ascii[];
}

/** The edges between the rows and columns of a tile: the same numbers as `ngeohash.decode_bbox` has of a cell. */
export function edgesOf(geohash: string, precision: number): TileDegrees {
  return degreesOf(geohash, precision, tileSide + 1, 0);
}

/** The middles of the rows and columns of a tile. */
function middlesOf(geohash: string, precision: number): TileDegrees {
  return degreesOf(geohash, precision, tileSide, 0.5);
}

/** All digits of the degrees are written: they are exact in a double. */
function degreesOf(geohash: string, precision: number, count: number, offset: number): TileDegrees {
  const [south, west] = ngeohash.decode_bbox(geohash);
  const { cellHeight, cellWidth } = gridOf(precision);
  const from = (first: number, step: number) =>
    Array.from({ length: count }, (_, index) => asciiOf(`${first + (index + offset) * step}`, degreeWords));
  return { latitudes: from(south, cellHeight), longitudes: from(west, cellWidth) };
}

/** A coordinate has at most 25 characters, and is written without a loop. */
const degreeWords = 4;
const noDegree = asciiOf("", degreeWords);

/** What stands between the numbers of a ring: of at most four bytes, the first in the lowest. */
interface RingSigns {
  readonly betweenCoordinates: number;
  readonly betweenCorners: number;
  readonly betweenCornersLength: number;
}

/** The signs of a ring in GeoJSON, within its outermost brackets. */
export const jsonRing: RingSigns = {
  betweenCoordinates: 0x2c, // ","
  betweenCorners: 0x5b2c5d, // "],["
  betweenCornersLength: 3,
};

const wktRing: RingSigns = {
  betweenCoordinates: 0x20, // " "
  betweenCorners: 0x2c, // ","
  betweenCornersLength: 1,
};

/**
 * Writes the corners of a cell, counterclockwise (RFC 7946, section 3.1.6): each by the degrees of its column and row.
 *
 * ```text
 * north   4 ◀── 3      written as   west,south],[east,south],[east,north],[west,north],[west,south
 *         │     ▲
 * south   1 ──▶ 2
 *       west   east
 * ```
 */
export function putRing(
  view: DataView,
  begin: number,
  { latitudes, longitudes }: TileDegrees,
  row: number,
  column: number,
  signs: RingSigns,
): number {
  const south = latitudes[row] ?? noDegree;
  const north = latitudes[row + 1] ?? noDegree;
  const west = longitudes[column] ?? noDegree;
  const east = longitudes[column + 1] ?? noDegree;
  let at = putCorner(view, begin, west, south, signs);
  at = putCorner(view, at, east, south, signs);
  at = putCorner(view, at, east, north, signs);
  at = putCorner(view, at, west, north, signs);
  return putCorner(view, at, west, south, signs) - signs.betweenCornersLength;
}

/** Writes a corner and the beginning of the next one. */
function putCorner(
  view: DataView,
  begin: number,
  longitude: Ascii,
  latitude: Ascii,
  { betweenCoordinates, betweenCorners, betweenCornersLength }: RingSigns,
): number {
  let at = putDegrees(view, begin, longitude);
  view.setUint8(at, betweenCoordinates);
  at = putDegrees(view, at + 1, latitude);
  view.setInt32(at, betweenCorners, true);
  return at + betweenCornersLength;
}

function putDegrees(view: DataView, at: number, { words, length }: Ascii): number {
  view.setFloat64(at, words[0] ?? 0, true);
  view.setFloat64(at + 8, words[1] ?? 0, true);
  view.setFloat64(at + 16, words[2] ?? 0, true);
  view.setFloat64(at + 24, words[3] ?? 0, true);
  return at + length;
}

/** Writes where a cell is and returns the offset after it; may write 31 bytes past it. */
export type PutPosition = (view: DataView, at: number, cell: number) => number;

/** How the rows of a format say where a cell is, from the tile on. */
export type PositionForm = (geohash: string, precision: number, positions: CellPositions) => PutPosition;

const asRing =
  (signs: RingSigns): PositionForm =>
  (geohash, precision, { rows, columns }) => {
    const edges = edgesOf(geohash, precision);
    return (view, at, cell) => putRing(view, at, edges, rows[cell] ?? 0, columns[cell] ?? 0, signs);
  };

/** The corners as in a ring of GeoJSON. */
export const jsonRingPosition = asRing(jsonRing);

/** The corners as in a polygon of WKT (ISO 19125-1): longitude first, within its parentheses. */
export const wktRingPosition = asRing(wktRing);

/** The latitude of the cell's centre, a comma, and its longitude. */
export const centrePosition: PositionForm = (geohash, precision, { rows, columns }) => {
  const { latitudes, longitudes } = middlesOf(geohash, precision);
  return (view, begin, cell) => {
    const at = putDegrees(view, begin, latitudes[rows[cell] ?? 0] ?? noDegree);
    view.setUint8(at, 0x2c);
    return putDegrees(view, at + 1, longitudes[columns[cell] ?? 0] ?? noDegree);
  };
};
