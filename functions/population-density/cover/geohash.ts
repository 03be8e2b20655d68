/** The characters of a geohash: their order is that of their values and of their code points. */
const alphabet = "0123456789bcdefghjkmnpqrstuvwxyz";

/** The cells of one precision: row 0 begins at latitude −90, column 0 at longitude −180. */
export interface Grid {
  readonly rows: number;
  readonly columns: number;
  /** In degrees, and as every multiple of it up to ±360 exact in a double. */
  readonly cellHeight: number;
  readonly cellWidth: number;
}

/**
 * The grid of a precision.
 * @param precision a whole number from 1 to 12: the length of the geohashes.
 */
export function gridOf(precision: number): Grid {
  const rows = 2 ** Math.floor((5 * precision) / 2);
  const columns = 2 ** Math.ceil((5 * precision) / 2);
  return { rows, columns, cellHeight: 180 / rows, cellWidth: 360 / columns };
}

/** The side of a tile: two characters of a geohash stand for 5 bits of the row and 5 of the column. */
export const tileSide = 32;

/** Bit `i` of a number below 32 at bit `2i`. */
const spread = Uint16Array.from({ length: tileSide }, (_, bits) => {
  let spaced = 0;
  for (let bit = 0; bit < 5; bit++) spaced |= ((bits >> bit) & 1) << (2 * bit);
  return spaced;
});

/**
 * The last two characters of a cell's geohash as a number from 0 to 1023, in geohash order; at precision 1, the
 * only character from 0 to 31.
 * @param row of the cell, from 0 to 31 within its tile.
 * @param column of the cell, from 0 to 31 within its tile.
 */
export function codeAt(row: number, column: number, precision: number): number {
  const rowBits = spread[row] ?? 0;
  const columnBits = spread[column] ?? 0;
  return precision % 2 === 0 ? (columnBits << 1) | rowBits : (rowBits << 1) | columnBits;
}

const pairs: readonly string[] = Array.from(alphabet).flatMap((first) =>
  Array.from(alphabet, (second) => first + second),
);
const single: readonly string[] = Array.from(alphabet);

/** What a tile's codes stand for at a precision: the last two characters; at precision 1, the only one. */
export function suffixesOf(precision: number): readonly string[] {
  return precision === 1 ? single : pairs;
}

/** The geohash of a cell; `""` for precision 0 and less, the tile of precisions 1 and 2. */
export function geohashAt(row: number, column: number, precision: number): string {
  if (precision <= 0) return "";
  if (precision === 1) return single[codeAt(row, column, 1)] ?? "";
  const [upperRow, upperColumn] = [Math.floor(row / tileSide), Math.floor(column / tileSide)];
  const code = codeAt(row % tileSide, column % tileSide, precision);
  return geohashAt(upperRow, upperColumn, precision - 2) + pairs[code];
}

/** Where a geohash is in the grid of its length. */
export interface Cell {
  readonly row: number;
  readonly column: number;
}

/**
 * The cell of a geohash.
 * @throws RangeError for a character that no geohash has; capital letters are none.
 */
export function cellOf(geohash: string): Cell {
  let row = 0;
  let column = 0;
  let isColumn = true;
  for (const character of geohash) {
    const value = alphabet.indexOf(character);
    if (value < 0) throw new RangeError(`not a geohash: ${JSON.stringify(geohash)}`);
    for (let bit = 4; bit >= 0; bit--) {
      if (isColumn) column = 2 * column + ((value >> bit) & 1);
      else row = 2 * row + ((value >> bit) & 1);
      isColumn = !isColumn;
    }
  }
  return { row, column };
}
