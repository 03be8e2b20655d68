/** What a stretch of a line has in common with the steps of the line. */
export interface Overlap {
  /** The first of these steps. */
  readonly first: number;
  /** Which share of the stretch is in each, from the first one on. */
  readonly shares: readonly number[];
  /** Which share of it is in any. */
  readonly inside: number;
}

/** The step from one border to the next in which a position between the first and the last border is. */
export function stepAt(borders: Float64Array, position: number): number {
  let [low, high] = [0, borders.length - 2];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((borders[middle] as number) <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Divides a stretch of a line at borders: a quotient of lengths for each step. */
export function overlapOf(borders: Float64Array, from: number, to: number): Overlap {
  const [start, end] = [Math.max(from, borders[0] as number), Math.min(to, borders.at(-1) as number)];
  if (!(start < end)) return { first: 0, shares: [], inside: 0 };
  const first = stepAt(borders, start);
  const shares: number[] = [];
  for (let step = first; step + 1 < borders.length && (borders[step] as number) < end; step++) {
    const [low, high] = [borders[step] as number, borders[step + 1] as number];
    shares.push((Math.min(high, end) - Math.max(low, start)) / (to - from));
  }
  return { first, shares, inside: (end - start) / (to - from) };
}

/** A ring in a plane: open, in either orientation. */
export interface PlaneRing {
  readonly xs: readonly number[];
  readonly ys: readonly number[];
}

/** The area of a ring: above 0 if it is counterclockwise, below 0 otherwise. */
export function areaOf({ xs, ys }: PlaneRing): number {
  // From one of its corners: far away from the plane's origin the products would lose their digits.
  const [x, y] = [xs[0] as number, ys[0] as number];
  let doubled = 0;
  for (let at = 0; at < xs.length; at++) {
    const next = at + 1 < xs.length ? at + 1 : 0;
    doubled += ((xs[at] as number) - x) * ((ys[next] as number) - y);
    doubled -= ((xs[next] as number) - x) * ((ys[at] as number) - y);
  }
  return doubled / 2;
}

/**
 * Clips a ring that does not cross itself to each of the rectangles between borders. What lies to the right of an edge
 * is added or taken away by the edge's direction; what remains is inside. So neither the order of the edges nor a
 * corner on a border needs a decision, and the pieces add up to the ring.
 * @param found called for each rectangle in which the ring has area, signed like `areaOf`.
 */
export function clipToRectangles(
  ring: PlaneRing,
  columnBorders: Float64Array,
  rowBorders: Float64Array,
  found: (row: number, column: number, area: number) => void,
): void {
  const [columns, rows] = [bordersAround(columnBorders, ring.xs), bordersAround(rowBorders, ring.ys)];
  if (columns === undefined || rows === undefined) return;
  const rightOf = heightsRightOf(ring, columns.borders, rows.borders);
  const total = Math.abs(areaOf(ring));
  for (let row = 0, at = 0; row + 1 < rows.borders.length; row++, at++) {
    const height = stepLength(rows.borders, row);
    for (let column = 0, covered = 0; column + 1 < columns.borders.length; column++, at++) {
      covered += rightOf[at] as number;
      const width = stepLength(columns.borders, column);
      const area = covered * width;
      // Where edges cancel each other out, what remains is rounding.
      if (Math.abs(area) <= 1e-12 * Math.min(height * width, total)) continue;
      found(rows.first + row, columns.first + column, area);
    }
  }
}

/** The borders of the steps that positions reach into; undefined if they reach into none. */
function bordersAround(borders: Float64Array, positions: readonly number[]) {
  const [from, to] = [Math.min(...positions), Math.max(...positions)];
  if (!(from < (borders.at(-1) as number) && to > (borders[0] as number))) return undefined;
  const [first, last] = [stepAt(borders, from), stepAt(borders, to)];
  return { first, borders: borders.subarray(first, last + 2) };
}

function stepLength(borders: Float64Array, step: number): number {
  return (borders[step + 1] as number) - (borders[step] as number);
}

/**
 * For each row, and in it for each column and one more: by how much more of the row's height the ring covers it than it
 * covers the column before it, as an average over the column.
 */
function heightsRightOf({ xs, ys }: PlaneRing, columns: Float64Array, rows: Float64Array): Float64Array {
  const heights = new Float64Array((rows.length - 1) * columns.length);
  for (let at = 0; at < xs.length; at++) {
    const next = at + 1 < xs.length ? at + 1 : 0;
    const [x, y] = [xs[at] as number, ys[at] as number];
    const [nextX, nextY] = [xs[next] as number, ys[next] as number];
    const xAt = (position: number) =>
      position === nextY ? nextX : x + (nextX - x) * ((position - y) / (nextY - y));
    const start = Math.max(Math.min(y, nextY), rows[0] as number);
    const end = Math.min(Math.max(y, nextY), rows.at(-1) as number);
    for (let row = stepAt(rows, start); start < end && (rows[row] as number) < end; row++) {
      const [low, high] = [Math.max(start, rows[row] as number), Math.min(end, rows[row + 1] as number)];
      const inRow = heights.subarray(row * columns.length, (row + 1) * columns.length);
      addRightOf(xAt(low), xAt(high), y > nextY ? high - low : low - high, columns, inRow);
    }
  }
  return heights;
}

/** Adds the height of a piece of an edge to the columns that are to the right of it. */
function addRightOf(
  x: number,
  otherX: number,
  height: number,
  columns: Float64Array,
  heights: Float64Array,
): void {
  const [west, east] = [Math.min(x, otherX), Math.max(x, otherX)];
  const heightBetween = (from: number, to: number) =>
    west === east ? height : height * ((to - from) / (east - west));
  const [first, last] = [columns[0] as number, columns.at(-1) as number];
  if (west >= last) return;
  if (west < first) heights[0] = (heights[0] as number) + heightBetween(west, Math.min(east, first));
  if (east < first || (west < first && east === first)) return;
  let column = stepAt(columns, Math.max(west, first));
  do {
    const [left, right] = [columns[column] as number, columns[column + 1] as number];
    const [from, to] = [Math.max(west, left), Math.min(east, right)];
    const crossing = heightBetween(from, to);
    const here = crossing * ((right - (from + to) / 2) / (right - left));
    heights[column] = (heights[column] as number) + here;
    heights[column + 1] = (heights[column + 1] as number) + crossing - here;
    column++;
  } while (column + 1 < columns.length && (columns[column] as number) < east);
}
