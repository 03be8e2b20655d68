/** People at a point: those of a row of a file. */
export interface PopulatedPoint {
  readonly longitude: number;
  readonly latitude: number;
  readonly people: number;
  /** Line of its file, counted from 1. */
  readonly line?: number;
}

/** People who are spread evenly over a polygon. */
export interface PopulatedPolygon {
  readonly ring: Ring;
  readonly people: number;
  /** Line of its file, counted from 1. */
  readonly line?: number;
}

/**
 * An open ring in either orientation, in degrees. Its longitudes go on beyond ±180 where it crosses the antimeridian.
 */
export interface Ring {
  readonly longitudes: readonly number[];
  readonly latitudes: readonly number[];
}

/** Pixels between meridians and parallels. People are spread evenly over each. */
export interface PopulatedPixels {
  /** Meridians from west to east, in degrees: one more than columns. */
  readonly longitudes: Float64Array;
  /** Parallels in the order of the rows, from north to south or from south to north: one more than rows. */
  readonly latitudes: Float64Array;
  /** Row by row, at least 0; NaN for a pixel without data. What is infinite is no number of people (`crowdIn`). */
  readonly people: ArrayLike<number>;
  /** What a pixel is called in its file, by its index. */
  readonly nameOf?: (index: number) => string;
}

/** A place of a file with its people. */
export type Place = PopulatedPoint | PopulatedPolygon | PopulatedPixels;

/** The people of a file, some places at a time. */
export type PopulationFile = AsyncIterable<readonly Place[]>;
