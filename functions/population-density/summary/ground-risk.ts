/**
 * The bands of population density, in people per km², by which the intrinsic ground risk class of a drone's flight is
 * found: the rows of Table 2 of JARUS SORA 2.5 (JAR-DEL-SRM-SORA-MB-2.5), each below its number. Its first row, ground
 * that the operator of the drone controls, is not known from densities. A density of 50,000 belongs to the last band.
 */
const populationBands = [
  { name: "BELOW_5", below: 5 },
  { name: "BELOW_50", below: 50 },
  { name: "BELOW_500", below: 500 },
  { name: "BELOW_5000", below: 5_000 },
  { name: "BELOW_50000", below: 50_000 },
  { name: "FROM_50000", below: Number.POSITIVE_INFINITY },
] as const;

/** The classes into which a summary sorts cells: a band of an estimate, or why there is none. */
export const groundRiskClasses = [
  ...populationBands.map(({ name }) => name),
  "LOW_DENSITY",
  "NO_DATA",
] as const;

/** A class of cells. */
export type GroundRiskClass = (typeof groundRiskClasses)[number];

/**
 * The band of a published estimate.
 * @param density the upper end of its range in people per km², at least 0: a pilot must not underestimate it.
 */
export function populationBandOf(density: number): GroundRiskClass {
  return populationBands.find(({ below }) => density < below)?.name ?? "FROM_50000";
}

/** The cells of a class. */
export interface ClassOfCells {
  readonly class: GroundRiskClass;
  readonly cells: number;
  /** Six significant digits. */
  readonly areaKm2: number;
}

/** Counts the cells of each class. */
export class CellsByClass {
  readonly #classes = new Map(groundRiskClasses.map((name) => [name, { cells: 0, areaKm2: 0 }]));

  add(name: GroundRiskClass, areaKm2: number): void {
    const before = this.#classes.get(name) ?? { cells: 0, areaKm2: 0 };
    this.#classes.set(name, { cells: before.cells + 1, areaKm2: before.areaKm2 + areaKm2 });
  }

  /** Every class in the order of `groundRiskClasses`, those without a cell too. */
  list(): ClassOfCells[] {
    return Array.from(this.#classes, ([name, { cells, areaKm2 }]) => ({
      class: name,
      cells,
      areaKm2: Number(areaKm2.toPrecision(6)),
    }));
  }
}
