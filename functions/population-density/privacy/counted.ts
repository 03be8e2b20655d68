/** People counted in the cells of a tile in one hour: 1,024 numbers each, 0 if nobody was counted. */
export interface CountedHour {
  readonly people: Float64Array;
  /** The lower ends of the ranges, 0 ≤ min ≤ people; may be fractions. */
  readonly min: Float64Array;
  /** The upper ends of the ranges. */
  readonly max: Float64Array;
}

/** People counted in a tile of the finest precision in a day. */
export interface CountedTile {
  /** The common prefix of its cells' geohashes: all but the last two characters. */
  readonly geohash: string;
  /** The covered cells, as `encodeTileDay` takes them; nobody is counted in any others. */
  readonly coverage: Uint8Array;
  /** The 24 hours of the day in UTC; undefined if the hour was not counted. */
  readonly hours: readonly (CountedHour | undefined)[];
}

/** All people counted on a day. A covered cell without people in a counted hour has 0 people. */
export interface CountedDay {
  /** `YYYY-MM-DD`, UTC. */
  readonly date: string;
  /** The length of the cells' geohashes. */
  readonly precision: number;
  /** The covered cells of each tile, by the tile's geohash. */
  readonly coverage: ReadonlyMap<string, Uint8Array>;
  /** In ascending order of geohash, each tile once. Can be read repeatedly, with the same result. */
  readonly tiles: Iterable<CountedTile> | AsyncIterable<CountedTile>;
}
