import { ImportError } from "../../../../shared/import/import-error.ts";
import { weekdayOf } from "../../privacy/typical-week.ts";
import type { ImportedData, Provenance } from "../../tiles/data-set.ts";
import { addToDataSet, calendarWith, recordPublishing } from "../../tiles/data-set-store.ts";
import type { FindingCode } from "../../tiles/findings.ts";
import {
  type CalendarChange,
  changedCalendar,
  type TypicalCalendar,
  utcCalendar,
} from "../../tiles/typical-calendar.ts";
import { type DayToJudge, type JudgedDayOfImport, judgeDays } from "../judge/judge-import.ts";
import { defaultThresholds, type JudgementThresholds } from "../judge/thresholds.ts";
import { excludedDays, recordExclusion } from "../store/exclusion-store.ts";
import { readFigures } from "../store/figure-store.ts";
import {
  beginEntry,
  type CountedPeople,
  type DayOfImport,
  endEntry,
  type ImportedFile,
  type JudgedNumbers,
  readDaysOf,
} from "../store/journal-store.ts";
import type { DayStorage } from "./day-storage.ts";

/** How counted people are imported. */
export interface DensityOrder {
  /** Whether the days are stored as typical weekdays and not as dates. */
  readonly typical: boolean;
  /** Whether typical weekdays were counted again: earlier counts are discarded. See `DayStorage`. */
  readonly isRecounted?: boolean | undefined;
  /** Which share of all people is counted, above 0 and at most 1; everybody if absent. */
  readonly marketShare?: number | undefined;
  /** Supported lengths of geohashes. */
  readonly precisions: readonly number[];
  /** K: cells with fewer people who were really counted are suppressed. */
  readonly threshold: number;
  /** For callers to read. */
  readonly provenance?: Provenance | undefined;
  /**
   * What typical weekdays follow from now on, as far as it differs from what they have followed. When an import is made
   * again: what they followed then, UTC if absent.
   */
  readonly calendar?: CalendarChange | undefined;
  /** Codes of critical findings that do not refuse it. */
  readonly accepted?: readonly FindingCode[] | undefined;
  /** The limits of warnings and refusals; the defaults if absent. */
  readonly thresholds?: JudgementThresholds | undefined;
  /** Whether its days stay out of typical weekdays. */
  readonly isExcluded?: boolean | undefined;
  /**
   * The number of an import in the journal that is made again, with K and precisions of its time. Days keep the parts
   * that they have, and the journal stays as it is.
   */
  readonly replay?: number | undefined;
}

/**
 * What typical weekdays follow in an import.
 * @throws {ImportError} for another time zone than they have followed, unless it is to replace that.
 */
export async function calendarOf({ calendar, replay }: DensityOrder): Promise<TypicalCalendar> {
  return replay === undefined ? await calendarWith(calendar) : changedCalendar(utcCalendar, calendar);
}

/**
 * Cells of a precision are stored at that one and at coarser ones.
 * @throws {ImportError} if none of them is supported.
 */
export function refuseCoarse({ precisions }: DensityOrder, precision: number): void {
  if (precisions.some((each) => each <= precision)) return;
  throw new ImportError([`geohashes of ${precision} characters are shorter than every supported precision`]);
}

/** How the days of an import are stored. */
export function storageOf(order: DensityOrder, calendar?: TypicalCalendar): DayStorage {
  const { precisions, threshold, marketShare, replay } = order;
  const replacesTimeZone = order.calendar?.replacesTimeZone;
  const kind = order.typical ? "typical" : "observed";
  return { kind, precisions, threshold, marketShare, replay, calendar, replacesTimeZone };
}

/** The days of an import that is made again, as it was made, by their dates; undefined for any other import. */
export async function daysAsMade({
  replay,
}: DensityOrder): Promise<ReadonlyMap<string, DayOfImport> | undefined> {
  return replay === undefined ? undefined : await readDaysOf(replay);
}

/**
 * The dates that discard what was counted of their weekday: the first of each, as two dates may have hours of one, and
 * the second must not forget the first.
 */
export function recountedDates({ isRecounted }: DensityOrder, dates: readonly string[]): ReadonlySet<string> {
  const first = new Map(dates.toReversed().map((date) => [weekdayOf(date), date]));
  return new Set(isRecounted === true ? first.values() : []);
}

/**
 * Judges the days of an import.
 * @param asMade see `daysAsMade`.
 * @throws {ImportError} naming the critical findings that are not accepted.
 */
export async function judgeOrder(
  order: DensityOrder,
  calendar: TypicalCalendar,
  days: readonly DayToJudge[],
  asMade: ReadonlyMap<string, DayOfImport> | undefined,
): Promise<readonly JudgedDayOfImport[]> {
  return await judgeDays(days, {
    calendar,
    thresholds: order.thresholds ?? defaultThresholds,
    accepted: order.accepted ?? [],
    excluded: order.typical ? new Set() : await excludedDays(order.replay),
    readFigures: order.typical ? async () => [] : readFigures,
    now: Date.now(),
    foundBefore: asMade,
  });
}

/** What the journal keeps of a day that was judged: nothing of a typical one. */
export function judgedNumbers(
  { typical }: DensityOrder,
  { figures, findings }: JudgedDayOfImport,
): JudgedNumbers | undefined {
  return typical ? undefined : { figures, findings };
}

/**
 * Writes what comes before the first day of an import, in this order: K, exclusions, and the entry in the journal.
 * @param dates in ascending order.
 * @param source the file of the covered area, for the journal.
 * @returns the number of the import in the journal; undefined for one that is made again.
 */
export async function beginImport(
  order: DensityOrder,
  calendar: TypicalCalendar,
  dates: readonly string[],
  files: readonly ImportedFile[],
  source: Pick<CountedPeople, "coverage">,
): Promise<number | undefined> {
  const isReplay = order.replay !== undefined;
  await recordPublishing(storageOf(order, calendar), newestDayOf(order, dates), isReplay);
  if (isReplay) return undefined;
  if (order.isExcluded === true) for (const date of dates) await recordExclusion(date, true);
  const { typical, isRecounted = false, marketShare = 1, threshold, precisions, provenance } = order;
  const { accepted = [] } = order;
  const options = {
    ...{ command: "density" as const, typical, isRecounted, marketShare, threshold, calendar },
    precisions: [...precisions],
    ...(source.coverage === undefined ? {} : { coverage: source.coverage }),
    ...(accepted.length === 0 ? {} : { accepted: [...accepted] }),
    ...(provenance === undefined ? {} : { provenance }),
  };
  return await beginEntry(options, files);
}

/** @param dates in ascending order. @returns undefined for typical weekdays. */
function newestDayOf({ typical }: DensityOrder, dates: readonly string[]): string | undefined {
  return typical ? undefined : dates.at(-1);
}

/**
 * Writes what comes after the figures of the last day, in this order: what callers are told of all data, and the end
 * in the journal.
 * @param dates in ascending order.
 * @param number as `beginImport` returned it.
 */
export async function endImport(
  order: DensityOrder,
  dates: readonly string[],
  stored: Pick<ImportedData, "compared" | "coverage" | "outline">,
  number: number | undefined,
): Promise<void> {
  const { provenance } = order;
  await addToDataSet({ ...stored, newestDay: newestDayOf(order, dates), provenance });
  if (number !== undefined) await endEntry(number);
}
