import type { Tile } from "../../../../functions/population-density/cover/cover.ts";
import { suffixesOf } from "../../../../functions/population-density/cover/geohash.ts";
import type { Coverage } from "../../../../functions/population-density/privacy/parts.ts";
import { cellAreas, childrenOf } from "../../../../functions/population-density/privacy/tile-pyramid.ts";
import { spansOf } from "../../../../functions/population-density/tiles/span.ts";
import { readSpans, tileName, typicalDay } from "../../../../functions/population-density/tiles/store.ts";
import {
  addToCoverage,
  coverageBytes,
  isCovered,
  readTileDay,
} from "../../../../functions/population-density/tiles/tile.ts";
import { inTime } from "../../../../shared/aws/clients.ts";

/**
 * The area of a box, in km², that earlier imports have covered and this one does not: it stays as they left it.
 * @param box the cells of the box, of a precision that is stored.
 * @param coverage what the import covers, of the same precision.
 */
export async function coverageLeft(
  box: readonly Tile[],
  precision: number,
  coverage: Coverage,
): Promise<number> {
  const left = box.flatMap(({ geohash, cells }) => {
    const now = coverage.get(geohash);
    const others = now === undefined ? [...cells] : [...cells].filter((cell) => !isCovered(now, cell));
    return others.length === 0 ? [] : [{ geohash, cells: others }];
  });
  let squareKm = 0;
  for (let from = 0; from < left.length; from += tilesAtOnce) {
    const areas = left.slice(from, from + tilesAtOnce).map((tile) => coveredArea(tile, precision));
    for (const area of await Promise.all(areas)) squareKm += area;
  }
  return squareKm;
}

const tilesAtOnce = 32;

/** Every weekday and every hour have the same coverage. */
const [anySpan = ""] = spansOf(typicalDay(1));

async function coveredArea(
  { geohash, cells }: { readonly geohash: string; readonly cells: readonly number[] },
  precision: number,
): Promise<number> {
  const [span] = await readSpans(tileName(precision, geohash), [anySpan], inTime());
  if (span === undefined) return 0;
  const { coverage } = readTileDay(span.hours);
  const areas = cellAreas(geohash, precision);
  return cells.reduce((sum, cell) => sum + (isCovered(coverage, cell) ? (areas[cell] as number) : 0), 0);
}

/** The cells one precision coarser that have any of some cells. */
export function parentCoverage(coverage: Coverage, precision: number): Map<string, Uint8Array> {
  const [characters, suffixes] = [suffixesOf(1), suffixesOf(precision - 1)];
  const parents = new Map<string, Uint8Array>();
  for (const [tile, bits] of coverage) {
    const parentTile = tile.slice(0, -1);
    const ofTile = parents.get(parentTile) ?? new Uint8Array(coverageBytes);
    for (const [parent, character] of characters.entries()) {
      if (childrenOf(bits, parent).length === 0) continue;
      addToCoverage(ofTile, suffixes.indexOf(tile.slice(-1) + character));
    }
    parents.set(parentTile, ofTile);
  }
  return parents;
}
