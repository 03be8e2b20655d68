import { addToCoverage, coverageBytes, isCovered } from "../../tiles/tile.ts";
import { firstKeyOf, prefixOf } from "../rows/row-key.ts";

/** A tile that has a covered cell. */
export interface SortedTile {
  readonly coverage: Uint8Array;
  /** By day: the partition with the rows of this tile and of those that differ in the last character only. */
  readonly partitions: Map<number, number>;
  /** Its first row key in them. */
  readonly firstKey: number;
}

/** The covered cells of every tile that has any, at a precision, as `encodeTileDay` takes them. */
export type CoverageAt = (precision: number) => ReadonlyMap<string, Uint8Array>;

/**
 * The tiles that rows may be of, and the partitions of each. Partitions are of a day and a prefix: all but the last
 * character of a tile's geohash.
 */
export class SortedTiles {
  readonly #coverageAt: CoverageAt | undefined;
  readonly #tiles = new Map<string, SortedTile>();
  /** By prefix, then by day; tiles with a prefix share the inner map. */
  readonly #partitions = new Map<string, Map<number, number>>();
  #precision: number | undefined;

  /** @param coverageAt if undefined, those cells are covered that any row names. */
  constructor(coverageAt: CoverageAt | undefined) {
    this.#coverageAt = coverageAt;
  }

  /** Precision of the rows' cells; undefined before the first row. */
  get precision(): number | undefined {
    return this.#precision;
  }

  get size(): number {
    return this.#tiles.size;
  }

  /** @returns undefined for a tile without a covered cell. */
  find(geohash: string): SortedTile | undefined {
    if (this.#precision === undefined) this.#begin(geohash.length + 2);
    return this.#tiles.get(geohash);
  }

  /** Whether a tile that was not found is to be added, because a row names it. */
  get isGrowing(): boolean {
    return this.#coverageAt === undefined;
  }

  /** @param coverage if absent, none of its cells is covered yet. */
  add(geohash: string, coverage: Uint8Array = new Uint8Array(coverageBytes)): SortedTile {
    const prefix = prefixOf(geohash);
    const partitions = this.#partitions.get(prefix) ?? new Map<number, number>();
    this.#partitions.set(prefix, partitions);
    const tile = { coverage, partitions, firstKey: firstKeyOf(geohash) };
    this.#tiles.set(geohash, tile);
    return tile;
  }

  /** Whether a cell is covered; without a given coverage it is from now on. */
  covers({ coverage }: SortedTile, cell: number): boolean {
    if (this.isGrowing) addToCoverage(coverage, cell);
    return isCovered(coverage, cell);
  }

  /** By geohash, in ascending order. */
  inOrder(): readonly (readonly [geohash: string, tile: SortedTile])[] {
    return [...this.#tiles].sort(byFirst);
  }

  /** In ascending order of prefix, then day. */
  *partitions(): Generator<{ readonly prefix: string; readonly day: number; readonly partition: number }> {
    for (const [prefix, ofDays] of [...this.#partitions].sort(byFirst)) {
      for (const [day, partition] of [...ofDays].sort(byFirst)) yield { prefix, day, partition };
    }
  }

  #begin(precision: number): void {
    this.#precision = precision;
    for (const [geohash, coverage] of this.#coverageAt?.(precision) ?? []) this.add(geohash, coverage);
  }
}

function byFirst<Key extends string | number>([one]: [Key, unknown], [other]: [Key, unknown]): number {
  return one < other ? -1 : 1;
}
