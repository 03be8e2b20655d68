/** An answer of the API, by hour and cell. */
import type { FeatureCollection, Polygon } from "geojson";
import { type Basis, combinedBasis } from "./basis.ts";
import type { TypicalWeek } from "./capabilities.ts";
import { cellArea } from "./cells.ts";
import { typicalDays } from "./typical-day.ts";

/** The kinds of values of a cell in an hour. */
type DataType = "NO_DATA" | "LOW_DENSITY" | "DENSITY_ESTIMATION";

/** The values of a cell in an answer as GeoJSON, hour by hour; `null` without an estimate. */
interface CellValues {
  readonly geohash: string;
  readonly dataType: readonly DataType[];
  readonly pplDensity: readonly (number | null)[];
  readonly minPplDensity: readonly (number | null)[];
  readonly maxPplDensity: readonly (number | null)[];
  readonly coveredShare: readonly number[];
}

/** A response to `POST /populationdensitydata/retrieve`: its body, and what its hours are made from. */
export interface DensityAnswer {
  readonly body: DensityBody;
  readonly bases: readonly Basis[];
}

/**
 * The body of `POST /populationdensitydata/retrieve` as GeoJSON. Unlike JSON it says of each cell which share of it is
 * covered, and has half the size.
 */
export interface DensityBody extends FeatureCollection<Polygon, CellValues> {
  readonly status: string;
  readonly intervals: readonly { readonly startTime: string; readonly endTime: string }[];
}

/** One cell in one hour; the numbers are people per km² of the whole cell. */
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
  /** Why the hour is marked: what the operator's import found unusual about it. */
  readonly unusual?: string;
  /** The day of the typical week that the hour has, such as `Sunday`. */
  readonly typicalDay: string;
}

/** An answer. */
export interface Densities {
  readonly status: string;
  readonly geohashes: readonly string[];
  /** The share of each cell that is covered, in the order of the cells: the greatest of all hours. */
  readonly coveredShares: readonly number[];
  readonly hours: readonly Hour[];
}

/** Parses the answers for some areas in the same hours. A cell of several areas counts once. */
export function parseDensities(answers: readonly DensityAnswer[], week: TypicalWeek): Densities {
  const bodies = answers.map(({ body }) => body);
  const features = bodies.flatMap((body) => body.features);
  const cells = [...new Map(features.map(({ properties }) => [properties.geohash, properties])).values()];
  const geohashes = cells.map(({ geohash }) => geohash);
  const areas = geohashes.map(cellArea);
  const typicalDay = typicalDays(week);
  // An area of which nothing is covered has no hours.
  const { intervals = [] } = bodies.find((body) => body.intervals.length > 0) ?? {};
  return {
    status: combinedStatus(bodies.map(({ status }) => status)),
    geohashes,
    coveredShares: cells.map(({ coveredShare }) => Math.max(0, ...coveredShare)),
    hours: intervals.map(({ startTime, endTime }, hour) => ({
      start: new Date(startTime),
      end: new Date(endTime),
      basis: combinedBasis(answers.map(({ bases }) => bases[hour])),
      typicalDay: typicalDay(new Date(startTime)),
      ...summarize(cells, areas, hour),
    })),
  };
}

/**
 * How many more people cells have than in another hour: of those only that are published in both.
 * @param areas by which a density of each cell is multiplied
 */
export function changeFrom(
  base: Hour,
  { values }: Hour,
  areas: readonly number[],
): { readonly people: number; readonly cells: number } {
  let [people, cells] = [0, 0];
  for (const [index, { density }] of values.entries()) {
    const before = base.values[index]?.density;
    if (density === undefined || before === undefined) continue;
    people += (density - before) * (areas[index] ?? 0);
    cells++;
  }
  return { people, cells };
}

/** The status of several areas together. */
export function combinedStatus(ofAreas: readonly string[]): string {
  const [status = "", ...others] = new Set(ofAreas);
  return others.length > 0 ? "PART_OF_AREA_NOT_SUPPORTED" : status;
}

/** Whether a part of a cell, but not all of it, is covered. */
export function isPartlyCovered(share: number): boolean {
  return share > 0 && share < 1;
}

function summarize(cells: readonly CellValues[], areas: readonly number[], hour: number) {
  const counts = { NO_DATA: 0, LOW_DENSITY: 0, DENSITY_ESTIMATION: 0 };
  let people = 0;
  const values = cells.map((cell, index) => {
    const value = hourValue(cell, hour);
    counts[value.dataType]++;
    people += (value.density ?? 0) * (areas[index] ?? 0);
    return value;
  });
  return { values, counts, people };
}

function hourValue({ dataType, pplDensity, minPplDensity, maxPplDensity }: CellValues, hour: number): Value {
  const [density, min, max] = [pplDensity[hour], minPplDensity[hour], maxPplDensity[hour]];
  return {
    dataType: dataType[hour] ?? "NO_DATA",
    ...(typeof density === "number" ? { density } : {}),
    ...(typeof min === "number" ? { min } : {}),
    ...(typeof max === "number" ? { max } : {}),
  };
}
