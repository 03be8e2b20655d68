import { cellsPerTile } from "../tiles/tile-hour.ts";
import type { Part } from "./parts.ts";
import { finestTile, type PartSums, TilePyramid, type TileSums } from "./tile-pyramid.ts";

/** The areas and bounds of a part in a tile, which do not depend on counts. */
export type PartCells = Pick<PartSums, "areas" | "bounds">;

/** How much of each cell a day's parts cover, computed on demand. */
export class PartAreas {
  readonly #parts: ReadonlyMap<string, Part>;

  constructor(parts: readonly Part[]) {
    this.#parts = new Map(parts.map((part) => [part.id, part]));
  }

  /** A part's cells in a tile of its own or a coarser precision. @param threshold the K with which it was published. */
  in(id: string, threshold: number, precision: number, geohash: string): PartCells {
    const part = this.#parts.get(id);
    if (part === undefined) throw new Error(`part ${id} is not of the day`);
    let found: PartCells = { areas: new Float64Array(cellsPerTile), bounds: new Uint32Array(cellsPerTile) };
    const take = (tiles: Iterable<TileSums>) => {
      for (const tile of tiles) if (tile.precision === precision) found = tile.parts[0] ?? found;
    };
    const pyramid = new TilePyramid(threshold, { precision });
    for (const [tile, coverage] of part.coverage) {
      if (!tile.startsWith(geohash)) continue;
      const parts = [{ part: id, coverage }];
      take(pyramid.add(finestTile({ geohash: tile, hours: [] }, parts, part.precision, threshold)));
    }
    take(pyramid.end());
    return found;
  }
}
