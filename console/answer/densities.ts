/** An answer of the API, by hour and cell. */
import { type Basis, combinedBasis } from "./basis.ts";
import { cellArea } from "./cells.ts";

/** The kinds of values of a cell in an hour. */
type DataType = "NO_DATA" | "LOW_DENSITY" | "DENSITY_ESTIMATION";

interface CellBody {
  readonly geohash: string;
  readonly dataType: DataType;
  readonly pplDensity?: number;
  readonly minPplDensity?: number;
  readonly maxPplDensity?: number;
}

/** A response to `POST /populationdensitydata/retrieve`: its body, and what its hours are made from. */
export interface DensityAnswer {
  readonly body: DensityBody;
  readonly bases: readonly Basis[];
}

/** The response body of `POST /populationdensitydata/retrieve`. */
export interface DensityBody {
  readonly status: string;
  readonly timedPopulationDensityData: readonly {
    readonly startTime: string;
    readonly endTime: string;
    readonly cellPopulationDensityData: readonly CellBody[];
  }[];
}

/** One cell in one hour; the numbers are people per km². */
export interface Value {
  readonly dataType: DataType;
  readonly density?: number;
  readonly min?: number;
  readonly max?: number;
}

/** One hour of an answer. */
export interface Hour {
  readonly start: Date;
  readonly end: Date;
  /** In the order of the answer's cells. */
  readonly values: readonly Value[];
  readonly counts: Readonly<Record<DataType, number>>;
  /** The total people of cells with a published density: density times area. */
  readonly people: number;
  readonly basis: Basis;
}

/** An answer. */
export interface Densities {
  readonly status: string;
  readonly geohashes: readonly string[];
  readonly hours: readonly Hour[];
}

/** Parses the answers for some areas in the same hours. A cell of several areas counts once. */
export function parseDensities(...answers: readonly DensityAnswer[]): Densities {
  const { status, timedPopulationDensityData } = merged(answers.map(({ body }) => body));
  const cells = timedPopulationDensityData[0]?.cellPopulationDensityData ?? [];
  const geohashes = cells.map(({ geohash }) => geohash);
  const areas = geohashes.map(cellArea);
  const hours = timedPopulationDensityData.map(({ startTime, endTime, cellPopulationDensityData }, hour) => ({
    start: new Date(startTime),
    end: new Date(endTime),
    basis: combinedBasis(answers.map(({ bases }) => bases[hour])),
    ...summarize(cellPopulationDensityData, areas),
  }));
  return { status, geohashes, hours };
}

/** The status of several areas together. */
export function combinedStatus(ofAreas: readonly string[]): string {
  const [status = "", ...others] = new Set(ofAreas);
  return others.length > 0 ? "PART_OF_AREA_NOT_SUPPORTED" : status;
}

/** One answer with the cells of all; they are the same in every hour. */
function merged(answers: readonly DensityBody[]): DensityBody {
  const status = combinedStatus(answers.map((answer) => answer.status));
  // An area of which nothing is covered has no hours.
  const lists = answers.map(({ timedPopulationDensityData: hours }) => hours);
  const [first = []] = lists.filter((hours) => hours.length > 0);
  const hours = first.map((hour, index) => {
    const cells = lists.flatMap((list) => list[index]?.cellPopulationDensityData ?? []);
    const byGeohash = new Map(cells.map((cell) => [cell.geohash, cell]));
    return { ...hour, cellPopulationDensityData: [...byGeohash.values()] };
  });
  return { status, timedPopulationDensityData: hours };
}

function summarize(cells: readonly CellBody[], areas: readonly number[]) {
  const counts = { NO_DATA: 0, LOW_DENSITY: 0, DENSITY_ESTIMATION: 0 };
  let people = 0;
  for (const [index, { dataType, pplDensity = 0 }] of cells.entries()) {
    counts[dataType]++;
    people += pplDensity * (areas[index] ?? 0);
  }
  return { values: cells.map(parseValue), counts, people };
}

function parseValue({ dataType, pplDensity, minPplDensity, maxPplDensity }: CellBody): Value {
  return {
    dataType,
    ...(pplDensity === undefined ? {} : { density: pplDensity }),
    ...(minPplDensity === undefined ? {} : { min: minPplDensity }),
    ...(maxPplDensity === undefined ? {} : { max: maxPplDensity }),
  };
}
