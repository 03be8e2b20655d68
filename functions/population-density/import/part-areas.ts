import { suffixesOf } from "../cover/geohash.ts";
import { cellsPerTile } from "../tiles/tile-hour.ts";
import { cellsIn, type Part } from "./parts.ts";
import { finestAreas } from "./tile-pyramid.ts";

const indexes: ReadonlyMap<string, number> = new Map(suffixesOf(2).map((suffix, index) => [suffix, index]));
const singleIndexes: ReadonlyMap<string, number> = new Map(
  suffixesOf(1).map((suffix, index) => [suffix, index]),
);

/** How much of a cell each part of a day covers, worked out when it is asked for. */
export class PartAreas {
  readonly #parts: ReadonlyMap<string, Part>;

  constructor(parts: readonly Part[]) {
    this.#parts = new Map(parts.map((part) => [part.id, part]));
  }

  /** Of each cell of a tile, the area of what a part covers of it, in km². */
  in(id: string, precision: number, geohash: string): Float64Array {
    const sums = new Float64Array(cellsPerTile);
    const part = this.#parts.get(id);
    if (part === undefined) throw new Error(`part ${id} is not of the day`);
    const suffixes = suffixesOf(part.precision);
    const [codes, from] = precision === 1 ? [singleIndexes, 0] : [indexes, precision - 2];
    for (const [tile, coverage] of part.coverage) {
      if (!tile.startsWith(geohash)) continue;
      const areas = finestAreas(tile, part.precision);
      for (const cell of cellsIn(coverage)) {
        const parent = codes.get((tile + suffixes[cell]).slice(from, precision)) ?? Number.NaN;
        sums[parent] = (sums[parent] ?? 0) + (areas[cell] ?? 0);
      }
    }
    return sums;
  }
}
