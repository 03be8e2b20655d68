import { timeOf } from "../answer/ascii.ts";
import type { Answer, CellsOfTile } from "../answer/json.ts";
import { cellArea } from "../cover/cell-area.ts";
import { suffixesOf } from "../cover/geohash.ts";
import { densityOf, maximumOf, minimumOf, noDataCode, suppressedCode, TileHour } from "../tiles/tile-hour.ts";
import { CellsByClass, type ClassOfCells, populationBandOf } from "./ground-risk.ts";

/** An hour by its start and end, RFC 3339 in UTC. */
interface Interval {
  readonly startTime: string;
  readonly endTime: string;
}

/** A published density, with its range in people per km². */
interface DensestCell {
  readonly geohash: string;
  readonly pplDensity: number;
  readonly minPplDensity: number;
  readonly maxPplDensity: number;
}

/** Totals of an answer's cells in one hour. */
interface HourSummary extends Interval {
  /** In the cells that have an estimate, a whole number; absent if none has. */
  readonly people?: number;
  readonly minPeople?: number;
  readonly maxPeople?: number;
  /** The first of equals; absent without an estimate. */
  readonly densestCell?: DensestCell;
  /** Every class in the order of `groundRiskClasses`, those without a cell too. */
  readonly groundRisk: readonly ClassOfCells[];
}

/** An hour and the people in it. */
interface HourOfPeople extends Interval {
  readonly people: number;
}

/** A summary of an answer, hour by hour. */
export interface Summary {
  readonly status: Answer["status"];
  /** The first hour with the fewest people; absent if no hour has an estimate. */
  readonly quietestHour?: HourOfPeople;
  /** The first hour with the most people; absent if no hour has an estimate. */
  readonly busiestHour?: HourOfPeople;
  readonly intervals: readonly HourSummary[];
}

/**
 * Adds up an answer, from the numbers that it publishes and nothing else, so that a summary discloses no more than the
 * answer to the same request does.
 */
export async function summaryOf(answer: Answer): Promise<Summary> {
  const { status, hours } = answer;
  const cells = answer.tiles.map((tile) => placedCellsOf(tile, answer.precision));
  const intervals: HourSummary[] = [];
  for (const index of hours.keys()) intervals.push(await hourSummaryOf(answer, cells, index));
  const counted = intervals.flatMap(({ startTime, endTime, people }) =>
    people === undefined ? [] : [{ startTime, endTime, people }],
  );
  // A stable sort: the first of equals stays before the others.
  const [quietestHour] = counted.toSorted((one, other) => one.people - other.people);
  const [busiestHour] = counted.toSorted((one, other) => other.people - one.people);
  return {
    status,
    ...(quietestHour === undefined ? {} : { quietestHour }),
    ...(busiestHour === undefined ? {} : { busiestHour }),
    intervals,
  };
}

/** The cells of a tile with their geohashes and areas in km², which are the same in every hour. */
interface PlacedCells {
  readonly cells: Uint16Array;
  readonly geohashes: readonly string[];
  readonly areas: Float64Array;
}

function placedCellsOf({ geohash, cells }: CellsOfTile, precision: number): PlacedCells {
  const suffixes = suffixesOf(precision);
  const geohashes = Array.from(cells, (cell) => `${geohash}${suffixes[cell]}`);
  return { cells, geohashes, areas: Float64Array.from(geohashes, cellArea) };
}

const hourWithoutData = new TileHour();

async function hourSummaryOf(
  { hours, openHour }: Answer,
  placed: readonly PlacedCells[],
  index: number,
): Promise<HourSummary> {
  const sums = new Sums();
  for (const [tile, { cells, geohashes, areas }] of placed.entries()) {
    const opened = (await openHour(tile, index)) ?? hourWithoutData;
    const { codes, below, above } = opened;
    for (const [order, cell] of cells.entries()) {
      const code = codes[cell] ?? noDataCode;
      const area = areas[order] ?? 0;
      if (code === noDataCode) sums.classes.add("NO_DATA", area);
      else if (code === suppressedCode) sums.classes.add("LOW_DENSITY", area);
      else {
        sums.addEstimate(geohashes[order] ?? "", area, opened.share(cell), {
          pplDensity: densityOf(code),
          minPplDensity: minimumOf(code, below[cell] ?? 0),
          maxPplDensity: maximumOf(code, above[cell] ?? 0),
        });
      }
    }
  }
  const hour = hours[index] ?? 0;
  return { startTime: timeOf(hour), endTime: timeOf(hour + 1), ...sums.result() };
}

/** The sums of one hour. */
class Sums {
  readonly classes = new CellsByClass();
  #people = { value: 0, min: 0, max: 0 };
  #densest: DensestCell | undefined;

  /**
   * The upper end of a range is a density of the covered part of the cell, so only that share is multiplied by it;
   * and the band of a cell is that of the upper end, so that a coarse precision understates no risk.
   */
  addEstimate(geohash: string, area: number, share: number, density: Omit<DensestCell, "geohash">): void {
    this.classes.add(populationBandOf(density.maxPplDensity), area);
    const { value, min, max } = this.#people;
    this.#people = {
      value: value + density.pplDensity * area,
      min: min + density.minPplDensity * area,
      max: max + density.maxPplDensity * area * share,
    };
    if (this.#densest === undefined || density.pplDensity > this.#densest.pplDensity) {
      this.#densest = { geohash, ...density };
    }
  }

  result(): Omit<HourSummary, keyof Interval> {
    const groundRisk = this.classes.list();
    if (this.#densest === undefined) return { groundRisk };
    const { value, min, max } = this.#people;
    return {
      people: Math.round(value),
      minPeople: Math.floor(min),
      maxPeople: Math.ceil(max),
      densestCell: this.#densest,
      groundRisk,
    };
  }
}
