import type { CountedDay } from "../../privacy/counted.ts";
import type { Division } from "../../privacy/parts.ts";
import type { TilePart } from "../../privacy/tile-pyramid.ts";
import { type FigureRules, type Figures, FiguresOfPart, sumsOfCells, type TileSums } from "./figures.ts";
import type { RowFigures } from "./row-sums.ts";

/** What is added up of a day while its rows are sorted. */
export interface DaySums {
  /** A bit for each hour that is counted. */
  readonly hours: number;
  readonly rows: RowFigures;
  /** Sums of all cells of each tile that has a row. */
  readonly tiles: ReadonlyMap<string, TileSums>;
}

/** The figures of a part of a day. */
export interface PartFigures {
  readonly part: string;
  readonly figures: Figures;
}

/**
 * The figures of each part that an import publishes. Rows are read again only for tiles that several parts share, or of
 * which some cells stay as they are published.
 */
export async function figuresOfParts(
  { coverage, tiles, sums }: Pick<CountedDay, "coverage" | "tiles"> & { readonly sums: DaySums },
  { partsIn }: Pick<Division, "partsIn">,
  rules: FigureRules,
): Promise<PartFigures[]> {
  const covered = [...coverage];
  const isWhole = (ofTile: Uint8Array, part: TilePart) => Buffer.compare(ofTile, part.coverage) === 0;
  const divided = new Set(
    covered.flatMap(([geohash, ofTile]) =>
      partsIn({ geohash }).every((part) => isWhole(ofTile, part)) ? [] : [geohash],
    ),
  );
  const ofCells = new Map<string, TileSums>();
  if (divided.size > 0) {
    for await (const tile of tiles) {
      if (!divided.has(tile.geohash)) continue;
      for (const { part, coverage } of partsIn(tile)) {
        ofCells.set(`${tile.geohash} ${part}`, sumsOfCells(tile, coverage, rules));
      }
    }
  }
  const parts = new Map<string, FiguresOfPart>();
  for (const [geohash] of covered) {
    for (const { part, coverage } of partsIn({ geohash })) {
      const figures = parts.get(part) ?? new FiguresOfPart(rules, sums.hours, covered.length);
      parts.set(part, figures);
      const ofPart = divided.has(geohash) ? ofCells.get(`${geohash} ${part}`) : sums.tiles.get(geohash);
      figures.add(geohash, coverage, ofPart);
    }
  }
  return [...parts]
    .map(([part, figures]) => ({ part, figures: figures.figures() }))
    .sort((one, other) => (one.part < other.part ? -1 : 1));
}
