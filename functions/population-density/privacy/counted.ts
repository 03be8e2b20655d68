/** People counted in the cells of a tile in one hour, 1,024 numbers each; 0 where nobody was counted. */
export interface CountedHour {
  readonly people: Float64Array;
  /** The lower ends of the ranges: 0 ≤ min ≤ people, whole or not. */
  readonly min: Float64Array;
  /** The upper ends of the ranges. */
  readonly max: Float64Array;
}

/** People counted in a tile of the finest precision in a day. */
export interface CountedTile {
  /** What the geohashes of its cells have in common: all but the last two characters. */
  readonly geohash: string;
  /** The cells that are covered, as `encodeTileDay` takes them; in no other is anybody counted. */
  readonly coverage: Uint8Array;
  /** The 24 hours of the day in UTC; undefined if the hour was not counted at all. */
  readonly hours: readonly (CountedHour | undefined)[];
}

/** All people counted on a day. A covered cell without people in a counted hour is empty. */
export interface CountedDay {
  /** `YYYY-MM-DD`, UTC. */
  readonly date: string;
  /** Length of the cells' geohashes. */
  readonly precision: number;
  /** The covered cells of each of the tiles, by its geohash. */
  readonly coverage: ReadonlyMap<string, Uint8Array>;
  /** In ascending order of geohash, each tile once; the same each time they are read. */
  readonly tiles: Iterable<CountedTile> | AsyncIterable<CountedTile>;
}
