import type { Box } from "../../../../functions/population-density/cover/box.ts";
import type { Tile } from "../../../../functions/population-density/cover/cover.ts";
import {
  codeAt,
  type Grid,
  geohashAt,
  gridOf,
  tileSide,
} from "../../../../functions/population-density/cover/geohash.ts";
import type { PopulatedPixels } from "./places.ts";

/**
 * The cells that share area, inside a box, with any pixel that has a number: a cell of which a part has data is covered,
 * as one at the border of a covered area is.
 */
export class CoveredCells {
  readonly #box: Box;
  readonly #precision: number;
  readonly #grid: Grid;
  readonly #rows: Stretch;
  readonly #columns: Stretch;
  /** Row by row from the south-west: 1 for a covered cell. */
  readonly #covered: Uint8Array;

  /** @param box one that does not cross the antimeridian. */
  constructor(box: Box, precision: number) {
    this.#box = box;
    this.#precision = precision;
    this.#grid = gridOf(precision);
    this.#rows = this.#rowsIn(box.south, box.north);
    this.#columns = this.#columnsIn(box.west, box.east);
    this.#covered = new Uint8Array(lengthOf(this.#rows) * lengthOf(this.#columns));
  }

  add({ longitudes, latitudes, people }: PopulatedPixels): void {
    const across = longitudes.length - 1;
    for (let row = 0; row + 1 < latitudes.length; row++) {
      const rows = this.#rowsIn(latitudes[row] as number, latitudes[row + 1] as number);
      if (lengthOf(rows) === 0) continue;
      for (let column = 0; column < across; column++) {
        if (!hasNumber(people[row * across + column])) continue;
        const first = column;
        while (column + 1 < across && hasNumber(people[row * across + column + 1])) column++;
        this.#cover(rows, this.#columnsIn(longitudes[first] as number, longitudes[column + 1] as number));
      }
    }
  }

  /** In ascending order of geohash. */
  tiles(): Tile[] {
    const tiles: Tile[] = [];
    const tileOf = (cell: number) => Math.floor(cell / tileSide);
    for (let row = tileOf(this.#rows.first); row <= tileOf(this.#rows.end - 1); row++) {
      for (let column = tileOf(this.#columns.first); column <= tileOf(this.#columns.end - 1); column++) {
        const cells = this.#cellsIn(row * tileSide, column * tileSide);
        if (cells.length === 0) continue;
        tiles.push({ geohash: geohashAt(row, column, this.#precision - 2), cells });
      }
    }
    return tiles.sort((one, other) => (one.geohash < other.geohash ? -1 : 1));
  }

  /** The covered cells of the tile that begins there, in ascending order. */
  #cellsIn(row: number, column: number): Uint16Array {
    const cells: number[] = [];
    const [fromRow, toRow] = [Math.max(row, this.#rows.first), Math.min(row + tileSide, this.#rows.end)];
    const [from, to] = [
      Math.max(column, this.#columns.first),
      Math.min(column + tileSide, this.#columns.end),
    ];
    for (let each = fromRow; each < toRow; each++) {
      for (let across = from, at = this.#indexOf(each, from); across < to; across++, at++) {
        if (this.#covered[at] === 1) cells.push(codeAt(each - row, across - column, this.#precision));
      }
    }
    return Uint16Array.from(cells).sort();
  }

  #cover(rows: Stretch, columns: Stretch): void {
    if (lengthOf(columns) === 0) return;
    for (let row = rows.first; row < rows.end; row++) {
      this.#covered.fill(1, this.#indexOf(row, columns.first), this.#indexOf(row, columns.end));
    }
  }

  #indexOf(row: number, column: number): number {
    return (row - this.#rows.first) * lengthOf(this.#columns) + column - this.#columns.first;
  }

  /** The rows of the box's cells that share something with latitudes, in either order. */
  #rowsIn(one: number, other: number): Stretch {
    const { south, north } = this.#box;
    return stretchOf(
      Math.max(Math.min(one, other), south) + 90,
      Math.min(Math.max(one, other), north) + 90,
      this.#grid.cellHeight,
    );
  }

  #columnsIn(from: number, to: number): Stretch {
    const { west, east } = this.#box;
    return stretchOf(Math.max(from, west) + 180, Math.min(to, east) + 180, this.#grid.cellWidth);
  }
}

/** Rows or columns of cells from the first to before the end. */
interface Stretch {
  readonly first: number;
  readonly end: number;
}

function stretchOf(from: number, to: number, cell: number): Stretch {
  return from < to ? { first: Math.floor(from / cell), end: Math.ceil(to / cell) } : { first: 0, end: 0 };
}

function lengthOf({ first, end }: Stretch): number {
  return end - first;
}

function hasNumber(people: number | undefined): boolean {
  return people !== undefined && people >= 0;
}
