import { Edges } from "./edges.ts";
import type { Grid } from "./geohash.ts";
import type { Polygon } from "./polygon.ts";

/** Rows from `from` to before `to` which the same edges span from bottom to top, or one row with a vertex inside. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  /**
   * From left to right: a left side of the polygon, its right side, the next left side. None in a row with a vertex.
   */
  readonly sides: readonly number[] | undefined;
}

/**
 * The cells that share area with a polygon, as runs of neighbours in a row. Rows and columns count from
 * `rowBase` and `columnBase` in the whole grid, multiples of a tile's side; columns stay below the grid's number of
 * columns wherever the polygon lies. `scan` replaces the runs before: they are in order of row and column, and
 * neither overlap nor touch each other.
 */
export class Runs {
  readonly rowBase: number;
  readonly columnBase: number;
  readonly firstRow: number;
  readonly lastRow: number;
  /** How many columns from `columnBase` on the runs are in. */
  readonly width: number;
  /** How many of the following three lists are filled. */
  length = 0;
  readonly rows: number[] = [];
  readonly firsts: number[] = [];
  readonly lasts: number[] = [];
  readonly #edges: Edges;
  readonly #columns: number;
  readonly #folds: boolean;
  readonly #stretches: readonly Stretch[];
  #stretch = 0;

  /** @param polygon one of fewer than 2^30 rows and columns of this grid. */
  constructor(polygon: Polygon, grid: Grid) {
    const edges = new Edges(polygon, grid);
    this.#edges = edges;
    this.rowBase = edges.rowBase;
    this.columnBase = edges.columnBase;
    this.#stretches = stretchesOf(edges);
    this.firstRow = this.#stretches[0]?.from ?? 0;
    this.lastRow = (edges.top - 1) >> 1;
    this.#columns = grid.columns;
    const width = ((edges.right - 1) >> 1) + 1;
    this.#folds = width > grid.columns;
    this.width = Math.min(width, grid.columns);
  }

  /** Finds the runs of the rows from `from` to before `to`; the rows of the calls go upwards. */
  scan(from: number, to: number): void {
    this.length = 0;
    for (; this.#stretch < this.#stretches.length; this.#stretch++) {
      const stretch = this.#stretches[this.#stretch];
      if (stretch === undefined || stretch.from >= to) break;
      const [start, end] = [Math.max(stretch.from, from), Math.min(stretch.to, to)];
      if (stretch.sides === undefined) this.#scanVertices(start);
      else this.#scanSides(stretch.sides, start, end);
      if (stretch.to > to) break;
    }
    if (this.#folds) this.#fold();
  }

  /**
   * Between a left and a right side that span a row, the polygon is one piece there, so it shares area with all
   * columns from the first to the last that the two reach.
   */
  #scanSides(sides: readonly number[], from: number, to: number): void {
    const { rows, firsts, lasts } = this;
    const { slope, start, error } = this.#edges;
    let length = this.length;
    for (let row = from; row < to; row++) {
      let end = none;
      for (let side = 0; side < sides.length; side += 2) {
        const left = sides[side] as number;
        const leftSlope = slope[left] as number;
        const leftBorder = leftSlope < 0 ? row + 1 : row;
        const leftmost = (start[left] as number) + leftBorder * leftSlope;
        let first = Math.floor(leftmost) | 0;
        const leftError = error[left] as number;
        if (!(leftmost - first > leftError && leftmost - first < 1 - leftError)) {
          first = this.#edges.exactColumnAt(left, leftBorder, leftmost) >> 1;
        }
        const right = sides[side + 1] as number;
        const rightSlope = slope[right] as number;
        const rightBorder = rightSlope > 0 ? row + 1 : row;
        const rightmost = (start[right] as number) + rightBorder * rightSlope;
        let last = Math.floor(rightmost) | 0;
        const rightError = error[right] as number;
        if (!(rightmost - last > rightError && rightmost - last < 1 - rightError)) {
          last = (this.#edges.exactColumnAt(right, rightBorder, rightmost) - 1) >> 1;
        }
        if (first <= end + 1) {
          lasts[length - 1] = last;
        } else {
          rows[length] = row;
          firsts[length] = first;
          lasts[length] = last;
          length++;
        }
        end = last;
      }
    }
    this.length = length;
  }

  /**
   * In a row with vertices: the columns whose inside an edge enters, and those between the edges at the row's lower
   * border. A cell that no edge enters and that shares area is inside as a whole, its lower side included.
   */
  #scanVertices(row: number): void {
    const edges = this.#edges;
    const found: [first: number, last: number][] = [];
    const bottoms: number[] = [];
    const [bottom, top] = [2 * row, 2 * row + 2];
    for (let edge = 0; edge < edges.count; edge++) {
      const low = edges.lowRow[edge] as number;
      const high = edges.highRow[edge] as number;
      if (low >= top || high <= bottom) continue;
      const lower = low >= bottom ? (edges.lowColumn[edge] as number) : edges.columnAt(edge, row);
      const upper = high <= top ? (edges.highColumn[edge] as number) : edges.columnAt(edge, row + 1);
      found.push([Math.min(lower, upper) >> 1, (Math.max(lower, upper) - 1) >> 1]);
      if (low <= bottom) bottoms.push(lower);
    }
    // Edges that are in the same place here may change their order: the columns are the same.
    bottoms.sort((one, other) => one - other);
    for (let side = 0; side < bottoms.length; side += 2) {
      found.push([(bottoms[side] as number) >> 1, ((bottoms[side + 1] as number) - 1) >> 1]);
    }
    this.#addAll(row, found);
  }

  /** Brings the columns of a polygon that reaches around the globe together. */
  #fold(): void {
    const { rows, firsts, lasts, length } = this;
    const pieces = new Map<number, [first: number, last: number][]>();
    for (let run = 0; run < length; run++) {
      const row = rows[run] as number;
      const inRow = pieces.get(row) ?? [];
      pieces.set(row, inRow);
      const last = lasts[run] as number;
      for (let first = firsts[run] as number; first <= last; ) {
        const turn = first - (first % this.#columns);
        const end = Math.min(last, turn + this.#columns - 1);
        inRow.push([first - turn, end - turn]);
        first = end + 1;
      }
    }
    this.length = 0;
    for (const [row, inRow] of pieces) this.#addAll(row, inRow);
  }

  /** Adds columns of one row in any order, those that overlap or touch as one run. */
  #addAll(row: number, found: [first: number, last: number][]): void {
    found.sort(([one], [other]) => one - other);
    let end = none;
    for (const [first, last] of found) {
      if (first > last) continue;
      if (first > end + 1) {
        this.rows[this.length] = row;
        this.firsts[this.length] = first;
        this.length++;
        end = last;
      }
      end = Math.max(end, last);
      this.lasts[this.length - 1] = end;
    }
  }
}

/** Before every column, and not next to one. */
const none = -2;

function stretchesOf(edges: Edges): Stretch[] {
  const withVertex = new Set<number>();
  const borders = new Set<number>();
  for (const steps of [...edges.lowRow, ...edges.highRow]) {
    borders.add(steps >> 1).add((steps + 1) >> 1);
    if (steps % 2 === 1) withVertex.add(steps >> 1);
  }
  const cuts = [...borders].sort((one, other) => one - other);
  return cuts.slice(1).map((to, index) => {
    const from = cuts[index] as number;
    return { from, to, sides: withVertex.has(from) ? undefined : sidesOf(edges, from, to) };
  });
}

function sidesOf(edges: Edges, from: number, to: number): number[] {
  const sides: number[] = [];
  for (let edge = 0; edge < edges.count; edge++) {
    if ((edges.lowRow[edge] as number) <= 2 * from && (edges.highRow[edge] as number) >= 2 * to)
      sides.push(edge);
  }
  return sides.sort((one, other) => edges.compare(one, other, from, to));
}
