import * as z from "zod/mini";
import type { Box } from "../cover/box.ts";
import { isCovered } from "./tile.ts";
import {
  cellsPerTile,
  densityOf,
  maximumOf,
  minimumOf,
  noDataCode,
  suppressedCode,
  type TileHour,
} from "./tile-hour.ts";

/**
 * How far typical hours were from what was observed then, over some slots: cells in an hour. Of published numbers
 * alone; a suppressed cell has the number and the range 0, and a slot that is suppressed in both is left out.
 */
const forecastError = z.object({
  slots: z.number(),
  /** Slots whose observed number was in the range of the typical one. */
  within: z.number(),
  /** The sum of what was observed, in people per km². */
  observed: z.number(),
  /** The sum of absolute differences, in people per km². */
  error: z.number(),
  /** The fewest days that any of the typical hours was made from; 0 for one that was imported as typical. */
  weeks: z.number(),
});

/** How far typical hours were from what was observed then. */
export type ForecastError = z.infer<typeof forecastError>;

/**
 * The error of a typical hour in some cells of a tile.
 * @param coverage the cells that are compared.
 * @param weeks the days that the typical hour was made from.
 */
export function forecastErrorOf(
  typical: TileHour,
  observed: TileHour,
  coverage: Uint8Array,
  weeks: number,
): ForecastError {
  const sum = { slots: 0, within: 0, observed: 0, error: 0, weeks };
  for (let cell = 0; cell < cellsPerTile; cell++) {
    const forecast = typical.codes[cell] ?? noDataCode;
    const found = observed.codes[cell] ?? noDataCode;
    if (forecast === noDataCode || found === noDataCode || !isCovered(coverage, cell)) continue;
    if (forecast === suppressedCode && found === suppressedCode) continue;
    const value = found === suppressedCode ? 0 : densityOf(found);
    sum.slots++;
    sum.observed += value;
    if (forecast === suppressedCode) {
      sum.error += value;
      if (value === 0) sum.within++;
      continue;
    }
    sum.error += Math.abs(value - densityOf(forecast));
    const isWithin =
      value >= minimumOf(forecast, typical.below[cell] ?? 0) &&
      value <= maximumOf(forecast, typical.above[cell] ?? 0);
    if (isWithin) sum.within++;
  }
  return sum;
}

/** The errors of several together, by the precisions of their cells. */
export class ForecastErrors {
  readonly #byPrecision = new Map<number, ForecastError>();

  /** Errors without slots add nothing. */
  add(precision: number, { slots, within, observed, error, weeks }: ForecastError): void {
    if (slots === 0) return;
    const before = this.#byPrecision.get(precision);
    this.#byPrecision.set(precision, {
      slots: slots + (before?.slots ?? 0),
      within: within + (before?.within ?? 0),
      observed: observed + (before?.observed ?? 0),
      error: error + (before?.error ?? 0),
      weeks: Math.min(weeks, before?.weeks ?? weeks),
    });
  }

  addAll(others: readonly PrecisionError[]): void {
    for (const { precision, ...error } of others) this.add(precision, error);
  }

  /** The finest precision first. */
  list(): PrecisionError[] {
    return [...this.#byPrecision]
      .sort(([one], [other]) => other - one)
      .map(([precision, error]) => ({ precision, ...error }));
  }
}

/** The error at a precision. */
const precisionError = z.extend(forecastError, { precision: z.number() });

/** The error at a precision. */
export type PrecisionError = z.infer<typeof precisionError>;

/** How far a day was from the typical weekdays that were stored before it was imported. */
export const comparedDay = z.object({
  /** `YYYY-MM-DD`, UTC. */
  day: z.string(),
  /** Stands for the parts of the day that were imported together: an area keeps one comparison. */
  area: z.string(),
  errors: z.array(precisionError),
  /** Around its cells; absent of days that were imported before it was recorded. */
  box: z.optional(z.object({ west: z.number(), south: z.number(), east: z.number(), north: z.number() })),
});

/** How far a day was from the typical weekdays that were stored before it was imported. */
export type ComparedDay = z.infer<typeof comparedDay>;

/** The same of a day that was just imported. */
export interface ImportedDay extends ComparedDay {
  /** Whether the import changed anything of the day. */
  readonly isChanged: boolean;
}

/** Earlier days are forgotten. */
const daysCompared = 28;
/** The maximum number of areas of these days that are kept: an item may have 400 KB. */
const maxCompared = 200;

/**
 * The comparisons that are kept after an import.
 * @param compared of its days. An import that changed nothing is compared only if no comparison is kept: what is stored
 *   by now is not what was stored before the day came.
 */
export function withComparisons(
  before: readonly ComparedDay[],
  compared: readonly ImportedDay[],
): ComparedDay[] {
  const keyOf = ({ day, area }: ComparedDay) => `${day} ${area}`;
  const kept = new Map(before.map((each) => [keyOf(each), each]));
  for (const { isChanged, ...each } of compared) {
    if (each.errors.length > 0 && (isChanged || !kept.has(keyOf(each)))) kept.set(keyOf(each), each);
  }
  const ordered = [...kept.values()].sort((one, other) => (keyOf(one) < keyOf(other) ? 1 : -1));
  const days = [...new Set(ordered.map(({ day }) => day))].slice(0, daysCompared);
  return ordered.filter(({ day }) => days.includes(day)).slice(0, maxCompared);
}

/** What callers are told of a precision's typical weekdays. */
export interface ForecastQuality {
  readonly precision: number;
  /** Days that were compared, and the latest of them. */
  readonly days: number;
  readonly newestDay: string;
  /** The fewest weeks that any typical hour was made from. */
  readonly weeks: number;
  /** Weighted absolute percentage error, as a fraction; undefined if nobody was observed. */
  readonly wape: number | undefined;
  /** The share of slots within their range. */
  readonly withinRange: number;
  /** The boxes around the cells that were compared, each once; absent if none was recorded. */
  readonly boxes?: readonly Box[];
}

/** How good typical weekdays were on some days, by precision, the finest first. */
export function forecastQuality(compared: readonly ComparedDay[]): ForecastQuality[] {
  const all = new ForecastErrors();
  for (const { errors } of compared) all.addAll(errors);
  return all.list().map(({ precision, slots, within, observed, error, weeks }) => {
    const ofPrecision = compared.filter(({ errors }) => errors.some((each) => each.precision === precision));
    const boxes = new Map(
      ofPrecision.flatMap(({ box }) => (box === undefined ? [] : [[JSON.stringify(box), box]])),
    );
    const days = [...new Set(ofPrecision.map(({ day }) => day))].sort();
    return {
      precision,
      days: days.length,
      newestDay: days.at(-1) ?? "",
      weeks,
      wape: observed === 0 ? undefined : rounded(error / observed),
      withinRange: rounded(within / slots),
      ...(boxes.size === 0 ? {} : { boxes: [...boxes.values()] }),
    };
  });
}

function rounded(fraction: number): number {
  return Math.round(fraction * 1e4) / 1e4;
}
