/** People at a point: those of a row, or of a part of a grid's cell. */
export interface PopulatedPoint {
  readonly longitude: number;
  readonly latitude: number;
  readonly people: number;
}

/** The people of a file, some at a time. */
export type PopulationFile = AsyncIterable<readonly PopulatedPoint[]>;
