import { orient2d } from "robust-predicates";
import { type Grid, tileSide } from "./geohash.ts";
import type { Polygon } from "./polygon.ts";

/**
 * A polygon on the grid of a precision. Rows and columns count from a corner that is at most one tile below and
 * left of the polygon; `rowBase` and `columnBase` are that corner in the whole grid, a column beyond the
 * antimeridian counting on. Positions between whole numbers are half steps: 2k for the border k, 2k + 1 for
 * anything between the borders k and k + 1.
 */
export class Edges {
  readonly count: number;
  readonly rowBase: number;
  readonly columnBase: number;
  /** The highest half steps of any vertex. */
  readonly top: number;
  readonly right: number;
  /** Half steps of the lower and the upper end of each edge; the same for a horizontal one. */
  readonly lowRow: number[] = [];
  readonly highRow: number[] = [];
  readonly lowColumn: number[] = [];
  readonly highColumn: number[] = [];
  /** Columns that an edge goes to the right for each row, in floating point. */
  readonly slope: number[] = [];
  /** Where the line of an edge meets row border 0: a column in floating point. */
  readonly start: number[] = [];
  /** How far `start + slope · border` may be from the exact column; NaN where nothing is known. */
  readonly error: number[] = [];
  readonly #polygon: Polygon;
  readonly #grid: Grid;
  /** The vertex at the lower end of each edge and the one at its upper end. */
  readonly #low: number[] = [];
  readonly #high: number[] = [];

  constructor(polygon: Polygon, grid: Grid) {
    this.#polygon = polygon;
    this.#grid = grid;
    const count = polygon.latitudes.length;
    this.count = count;
    const rows = halfStepsOf(polygon.latitudes, 90, grid.cellHeight);
    const columns = halfStepsOf(polygon.longitudes, 180, grid.cellWidth);
    this.rowBase = baseOf(rows, grid.rows);
    this.columnBase = baseOf(columns, grid.columns);
    const row = rows.map((steps) => steps - 2 * this.rowBase);
    const column = columns.map((steps) => steps - 2 * this.columnBase);
    this.top = Math.max(...row);
    this.right = Math.max(...column);
    for (let edge = 0; edge < count; edge++) this.#place(edge, row, column);
  }

  /** Where an edge that reaches a row border meets it: the exact column in half steps. */
  columnAt(edge: number, border: number): number {
    const near = at(this.start, edge) + border * at(this.slope, edge);
    const error = at(this.error, edge);
    const whole = Math.floor(near);
    const part = near - whole;
    return part > error && part < 1 - error ? 2 * whole + 1 : this.exactColumnAt(edge, border, near);
  }

  /** The same where floating point does not decide. */
  exactColumnAt(edge: number, border: number, near: number): number {
    if (!(at(this.error, edge) < 0.25)) return this.#search(edge, border);
    const nearest = Math.round(near);
    return 2 * nearest + this.#sideOfCorner(edge, nearest, border);
  }

  /**
   * Which of two edges that span the same rows is further left: below 0 for the first. Exact, by the sum of the
   * columns at the lowest and the highest border, and else by the side on which one's end is of the other: edges do
   * not cross, and meet at one end at most.
   */
  compare(one: number, other: number, from: number, to: number): number {
    const steps =
      this.columnAt(one, from) +
      this.columnAt(one, to) -
      this.columnAt(other, from) -
      this.columnAt(other, to);
    if (steps !== 0) return steps;
    const { latitudes } = this.#polygon;
    const [low, otherLow] = [at(this.#low, one), at(this.#low, other)];
    const atLower =
      at(latitudes, low) >= at(latitudes, otherLow)
        ? -this.#sideOfVertex(other, low)
        : this.#sideOfVertex(one, otherLow);
    if (atLower !== 0) return atLower;
    const [high, otherHigh] = [at(this.#high, one), at(this.#high, other)];
    return at(latitudes, high) <= at(latitudes, otherHigh)
      ? -this.#sideOfVertex(other, high)
      : this.#sideOfVertex(one, otherHigh);
  }

  #place(edge: number, row: readonly number[], column: readonly number[]): void {
    const { latitudes, longitudes } = this.#polygon;
    const { cellHeight, cellWidth } = this.#grid;
    const next = edge + 1 === this.count ? 0 : edge + 1;
    const isUp = at(latitudes, next) > at(latitudes, edge);
    const [low, high] = isUp ? [edge, next] : [next, edge];
    this.#low[edge] = low;
    this.#high[edge] = high;
    this.lowRow[edge] = at(row, low);
    this.highRow[edge] = at(row, high);
    this.lowColumn[edge] = at(column, low);
    this.highColumn[edge] = at(column, high);
    const rise = at(latitudes, high) - at(latitudes, low);
    const slope = ((at(longitudes, high) - at(longitudes, low)) / rise) * (cellHeight / cellWidth);
    const x = (at(longitudes, low) - (this.columnBase * cellWidth - 180)) / cellWidth;
    const y = (at(latitudes, low) - (this.rowBase * cellHeight - 90)) / cellHeight;
    this.slope[edge] = slope;
    this.start[edge] = x - y * slope;
    // Ten roundings of 2^-53 of a column or of slope · row at most.
    this.error[edge] = 2 ** -48 * (this.right + 2 + Math.abs(slope) * (this.top + 2));
  }

  /** Where an edge that is nearly level meets a row border: halves the columns that it spans. */
  #search(edge: number, border: number): number {
    const [one, other] = [at(this.lowColumn, edge), at(this.highColumn, edge)];
    let first = Math.floor(Math.min(one, other) / 2);
    let last = Math.ceil(Math.max(one, other) / 2);
    while (first < last) {
      const column = Math.ceil((first + last) / 2);
      const side = this.#sideOfCorner(edge, column, border);
      if (side === 0) return 2 * column;
      if (side > 0) first = column;
      else last = column - 1;
    }
    return 2 * first + this.#sideOfCorner(edge, first, border);
  }

  /** 1 if an edge is to the right of the corner of a row border and a column border, −1 to the left, 0 on it; exact. */
  #sideOfCorner(edge: number, column: number, border: number): number {
    const { cellHeight, cellWidth } = this.#grid;
    const longitude = (this.columnBase + column) * cellWidth - 180;
    return this.#sideOf(edge, longitude, (this.rowBase + border) * cellHeight - 90);
  }

  /** The same for a vertex. */
  #sideOfVertex(edge: number, vertex: number): number {
    const { latitudes, longitudes } = this.#polygon;
    return this.#sideOf(edge, at(longitudes, vertex), at(latitudes, vertex));
  }

  #sideOf(edge: number, longitude: number, latitude: number): number {
    const { latitudes, longitudes } = this.#polygon;
    const [low, high] = [at(this.#low, edge), at(this.#high, edge)];
    const turn = orient2d(
      at(longitudes, low),
      at(latitudes, low),
      at(longitudes, high),
      at(latitudes, high),
      longitude,
      latitude,
    );
    // The library's y axis points down: above 0, the point is to the right of the edge, which goes up.
    return -Math.sign(turn);
  }
}

/** The half steps of coordinates on a grid that begins at −`origin`; exact. */
function halfStepsOf(values: Float64Array, origin: number, cell: number): number[] {
  return Array.from(values, (value) => {
    const distance = value + origin;
    let border = Math.floor(distance / cell);
    // A quotient is rounded; the multiples of a cell's side are exact.
    if (border * cell > distance) border--;
    else if ((border + 1) * cell <= distance) border++;
    return border * cell === distance ? 2 * border : 2 * border + 1;
  });
}

/** The multiple of a tile's side, or of a smaller grid's, that is at or below all of them. */
function baseOf(halfSteps: readonly number[], cells: number): number {
  const side = Math.min(tileSide, cells);
  return Math.floor(Math.min(...halfSteps) / 2 / side) * side;
}

function at(numbers: ArrayLike<number>, index: number): number {
  return numbers[index] as number;
}
