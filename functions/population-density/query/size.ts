import { countCells } from "../cover/cover.ts";
import { storedDayCount } from "./intervals.ts";
import type { DensityQuery } from "./parse.ts";

/** How much a query asks for. */
export interface QuerySize {
  readonly cells: number;
  /** Cells × hours: the densities of the answer. */
  readonly slots: number;
  /** Whether `cells` and `slots` are exact; otherwise the query has at least as many. */
  readonly areCellsExact: boolean;
  /** Tiles in which the cells are stored. */
  readonly tiles: number;
  /** Tiles × days, typical and observed days alike, from which the answer may be made. */
  readonly tileDays: number;
  /** Whether `tiles` and `tileDays` are exact; otherwise the query has at least as many. */
  readonly areTilesExact: boolean;
}

/** Beyond these, counts need not be exact. */
interface MaxSize {
  readonly slots: number;
  readonly tileDays: number;
}

/** Up to this number, cells are counted exactly for error messages; counting more would take too long. */
const maxExactCells = 1_000_000;

const exactly: MaxSize = { slots: Number.MAX_SAFE_INTEGER, tileDays: Number.MAX_SAFE_INTEGER };

/** The size of a query, without listing its cells. The time grows with its rows, but not where it exceeds `max`. */
export function sizeOf({ polygon, precision, asked }: DensityQuery, max = exactly): QuerySize {
  const maxCells = Math.max(Math.floor(max.slots / asked.length), maxExactCells);
  const cells = countCells(polygon, precision, maxCells);
  const days = storedDayCount(asked);
  const maxTiles = Math.floor(max.tileDays / days);
  // The tiles of a precision are the cells of the one that is two characters shorter.
  const tiles = precision < 3 ? 1 : countCells(polygon, precision - 2, maxTiles);
  return {
    cells,
    slots: cells * asked.length,
    areCellsExact: cells <= maxCells,
    tiles,
    tileDays: tiles * days,
    areTilesExact: tiles <= maxTiles,
  };
}
