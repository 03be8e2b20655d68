import { orient2d } from "robust-predicates";
import { halfStepsOf, signOf } from "./exact.ts";
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
    const rows = this.#stepsFromOrigin(polygon.exact.latitudes, 90, grid.cellHeight);
    const columns = this.#stepsFromOrigin(polygon.exact.longitudes, 180, grid.cellWidth);
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
    const { latitudes, longitudes, isPlain } = this.#polygon;
    if (!isPlain || !(at(this.error, edge) < 0.25)) return this.#divide(edge, border);
    const nearest = Math.round(near);
    const [low, high] = [at(this.#low, edge), at(this.#high, edge)];
    const turn = orient2d(
      at(longitudes, low),
      at(latitudes, low),
      at(longitudes, high),
      at(latitudes, high),
      (this.columnBase + nearest) * this.#grid.cellWidth - 180,
      (this.rowBase + border) * this.#grid.cellHeight - 90,
    );
    // Above 0, the corner is to the right of the edge, so that the edge is left of the corner.
    return 2 * nearest - Math.sign(turn);
  }

  /**
   * Which of two edges that span the same rows is further left: below 0 for the first. Exact, by the sum of the
   * columns at the lowest and the highest border: edges do not cross, and meet at one of the two at most.
   */
  compare(one: number, other: number, from: number, to: number): number {
    const steps =
      this.columnAt(one, from) +
      this.columnAt(one, to) -
      this.columnAt(other, from) -
      this.columnAt(other, to);
    if (steps !== 0) return steps;
    const middle = this.#latitudeOf(from) + this.#latitudeOf(to);
    const [left, leftRise] = this.#doubleLongitudeAt(one, middle);
    const [right, rightRise] = this.#doubleLongitudeAt(other, middle);
    return signOf(left * rightRise - right * leftRise);
  }

  #place(edge: number, row: readonly number[], column: readonly number[]): void {
    const { latitudes, longitudes, isPlain } = this.#polygon;
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
    // Ten roundings of 2^-53 of a column or of slope · row at most, and that of an unwrapped longitude.
    const unwrapping = isPlain ? 0 : 2 ** -42 / cellWidth;
    this.error[edge] = 2 ** -48 * (this.right + 2 + Math.abs(slope) * (this.top + 2)) + unwrapping;
  }

  #stepsFromOrigin(values: readonly bigint[], origin: number, cell: number): number[] {
    const { places } = this.#polygon.exact;
    const [shift, divisor] = [unitsOf(origin, places), unitsOf(cell, places)];
    return values.map((value) => halfStepsOf(value + shift, divisor));
  }

  #latitudeOf(border: number): bigint {
    return unitsOf((this.rowBase + border) * this.#grid.cellHeight - 90, this.#polygon.exact.places);
  }

  /** The exact longitude of an edge at half of a latitude, doubled: a dividend and a divisor above 0. */
  #doubleLongitudeAt(edge: number, doubleLatitude: bigint): readonly [bigint, bigint] {
    const { latitudes, longitudes } = this.#polygon.exact;
    const [low, high] = [at(this.#low, edge), at(this.#high, edge)];
    const [x, y] = [longitudes[low] ?? 0n, latitudes[low] ?? 0n];
    const rise = (latitudes[high] ?? 0n) - y;
    const run = (longitudes[high] ?? 0n) - x;
    return [2n * x * rise + (doubleLatitude - 2n * y) * run, rise];
  }

  #divide(edge: number, border: number): number {
    const [doubled, rise] = this.#doubleLongitudeAt(edge, 2n * this.#latitudeOf(border));
    const { places } = this.#polygon.exact;
    const origin = unitsOf(this.columnBase * this.#grid.cellWidth - 180, places);
    const cell = unitsOf(this.#grid.cellWidth, places);
    return halfStepsOf(doubled - 2n * origin * rise, 2n * cell * rise);
  }
}

/** The multiple of a tile's side, or of a smaller grid's, that is at or below all of them. */
function baseOf(halfSteps: readonly number[], cells: number): number {
  const side = Math.min(tileSide, cells);
  return Math.floor(Math.min(...halfSteps) / 2 / side) * side;
}

/** A border of a cell, or a cell's side, is a double of 28 binary places at most. */
function unitsOf(degrees: number, places: number): bigint {
  return BigInt(degrees * 2 ** 28) << BigInt(places - 28);
}

function at(numbers: ArrayLike<number>, index: number): number {
  return numbers[index] as number;
}
