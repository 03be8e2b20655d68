/**
 * An import of counted people, from its options to the end of its entry in the journal: `importDensity` reads the rows.
 * A day on its way through it:
 *
 * | Type         | What is known of the day                                          | Made in                 |
 * |--------------|-------------------------------------------------------------------|-------------------------|
 * | `SortedDay`  | its counted tiles, and sums of its rows                           | `sort/sorted-days.ts`   |
 * | `CheckedDay` | the parts that it has, and how the import divides what it covers  | `publish/day-parts.ts`  |
 * | `JudgedDay`  | what will be published of each part, and what is unusual about it | `judge/judge-import.ts` |
 * | `StoredDay`  | how many items were written, and how well it was predicted        | `publish/store-days.ts` |
 */
import { ImportError } from "../../../shared/import/import-error.ts";
import type { Box } from "../cover/box.ts";
import { checkShare } from "../privacy/market-share.ts";
import { weekdayOf } from "../privacy/typical-week.ts";
import type { Provenance } from "../tiles/data-set.ts";
import { addToDataSet, calendarWith, recordPublishing } from "../tiles/data-set-store.ts";
import type { FindingCode } from "../tiles/findings.ts";
import type { ImportedDay } from "../tiles/forecast-error.ts";
import {
  type CalendarChange,
  changedCalendar,
  type TypicalCalendar,
  utcCalendar,
} from "../tiles/typical-calendar.ts";
import { coveredBox } from "./covered-box.ts";
import { coveredOutline } from "./covered-outline.ts";
import { type DatedFinding, judgeDays } from "./judge/judge-import.ts";
import { figuresOfParts, type PartFigures } from "./judge/part-figures.ts";
import { defaultThresholds, type JudgementThresholds } from "./judge/thresholds.ts";
import { type CheckedDay, partsOfDay } from "./publish/day-parts.ts";
import { checkTypicalDay, type DayStorage } from "./publish/day-storage.ts";
import { Divisions } from "./publish/divisions.ts";
import { checkDay, storeCheckedDay } from "./publish/store-days.ts";
import { storeFigures } from "./publish/store-figures.ts";
import type { RowFormat } from "./rows/row-format.ts";
import type { SortedDay } from "./sort/day-sort.ts";
import type { OnWait } from "./store/day-lease.ts";
import { excludedDays, recordExclusion } from "./store/exclusion-store.ts";
import { readFigures } from "./store/figure-store.ts";
import {
  beginEntry,
  type DayOfImport,
  endEntry,
  type ImportedFile,
  readDaysOf,
} from "./store/journal-store.ts";
import { checkParts } from "./store/part-store.ts";

/** How counted people are imported. */
export interface ImportOptions {
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
  /** Checks everything and stores nothing. */
  readonly isDryRun?: boolean | undefined;
}

/** What an import is made from, for the journal. */
export interface ImportSource {
  readonly files: readonly ImportedFile[];
  readonly coverage: ImportedFile | undefined;
  readonly format: RowFormat | undefined;
}

/** What all days of an import have in common. */
export interface ImportRules extends ImportOptions {
  readonly storage: DayStorage;
  /** What typical weekdays follow in it. */
  readonly calendarNow: TypicalCalendar;
  /** The days of an import that is made again, as it was made, by their dates. */
  readonly asMade: ReadonlyMap<string, DayOfImport> | undefined;
}

/** What an import has stored. */
export interface DaysImported {
  /** Items of the table that depend on the rows. */
  readonly items: number;
  /** Items that were written, because they were absent or different. */
  readonly changed: number;
  /** What is unusual about its days; critical ones were accepted. */
  readonly findings: readonly DatedFinding[];
  /** Absent if nothing was stored. */
  readonly box?: Box | undefined;
}

/**
 * What an import follows, to be known before its rows are read.
 * @throws {ImportError} for lost parts, and for another time zone than typical weekdays have followed, unless it is to
 * replace that.
 */
export async function rulesOf(options: ImportOptions): Promise<ImportRules> {
  const { typical, precisions, threshold, marketShare, replay } = options;
  checkShare(marketShare ?? 1);
  await checkParts();
  const calendar =
    replay === undefined
      ? await calendarWith(options.calendar)
      : changedCalendar(utcCalendar, options.calendar);
  const storage = {
    kind: typical ? "typical" : "observed",
    ...{ precisions, threshold, marketShare, replay, calendar, divisions: new Divisions() },
    replacesTimeZone: options.calendar?.replacesTimeZone,
  } as const;
  const asMade = replay === undefined ? undefined : await readDaysOf(replay);
  return { ...options, storage, calendarNow: calendar, asMade };
}

/**
 * Checks all days, then judges them, and then stores one whole day after the other: an import that is killed leaves
 * whole days.
 * @param days in ascending order; all cover the same cells.
 * @param onDay called with each date before it is stored.
 * @param onWait see `settledParts`.
 * @throws {ImportError} naming what is refused; what `storeCheckedDay` throws.
 */
export async function importDays(
  days: readonly SortedDay[],
  rules: ImportRules,
  source: ImportSource,
  onDay: (date: string) => void,
  onWait?: OnWait,
): Promise<DaysImported> {
  const { typical, provenance, replay } = rules;
  const checked: { day: SortedDay; storage: DayStorage; found: CheckedDay; parts: PartFigures[] }[] = [];
  for (const day of days) checked.push(await checkedIn(day, days, rules));
  const judged = await judgeDays(
    checked.map(({ day, parts }) => ({ date: day.date, rows: day.sums.rows, parts })),
    {
      calendar: rules.calendarNow,
      thresholds: rules.thresholds ?? defaultThresholds,
      accepted: rules.accepted ?? [],
      excluded: typical ? new Set() : await excludedDays(replay),
      readFigures: typical ? async () => [] : readFigures,
      now: Date.now(),
      foundBefore: rules.asMade,
    },
  );
  const findings = judged.flatMap(({ found }) => found);
  const last = days.at(-1);
  if (last === undefined || rules.isDryRun === true) return { items: 0, changed: 0, findings };
  const newestDay = typical ? undefined : last.date;
  const dates = days.map(({ date }) => date);
  await recordPublishing(rules.storage, newestDay, replay !== undefined);
  const number = replay === undefined ? await beginEntryOf(rules, dates, source) : undefined;
  const box = coveredBox(last.coverage, last.precision);
  const total = { items: 0, changed: 0 };
  const compared: ImportedDay[] = [];
  for (const [index, { day, storage, found }] of checked.entries()) {
    onDay(day.date);
    const ofDay = typical ? undefined : judged[index];
    const stored = await storeCheckedDay(
      day,
      { ...storage, importNumber: number, judged: ofDay, onWait },
      found,
    );
    if (ofDay !== undefined) await storeFigures(ofDay, replay);
    total.items += stored.items;
    total.changed += stored.changed;
    compared.push({ ...stored.compared, ...(box === undefined ? {} : { box }) });
  }
  const outline = coveredOutline(last.coverage, last.precision);
  await addToDataSet({ coverage: box, outline, compared, newestDay, provenance });
  if (number !== undefined) await endEntry(number);
  return { ...total, findings, box };
}

/** A day with how it is divided, and the figures of what will be published of it. */
async function checkedIn(day: SortedDay, days: readonly SortedDay[], rules: ImportRules) {
  const { date, precision } = day;
  if (rules.precisions.every((each) => each > precision)) {
    throw new ImportError([
      `geohashes of ${precision} characters are shorter than every supported precision`,
    ]);
  }
  if (rules.typical) checkTypicalDay(date, rules.calendarNow);
  const ofDay = { ...rules.storage, partsBefore: partsOfDay(date, rules.asMade) };
  const found = await checkDay(day, { ...ofDay, isRecounted: rules.isRecounted });
  const parts = await figuresOfParts(day, found.division, ofDay);
  // What was counted of a weekday is discarded once, by the first of its dates: the second must not forget the first.
  const isFirst = days.find((each) => weekdayOf(each.date) === weekdayOf(date)) === day;
  return { day, storage: { ...ofDay, isRecounted: rules.isRecounted === true && isFirst }, found, parts };
}

/** Writes the exclusions of an import, and then its entry in the journal. @returns its number. */
async function beginEntryOf(
  rules: ImportRules,
  dates: readonly string[],
  { files, coverage, format }: ImportSource,
): Promise<number> {
  if (rules.isExcluded === true) for (const date of dates) await recordExclusion(date, true);
  const { typical, isRecounted = false, marketShare = 1, threshold, precisions, provenance } = rules;
  const { accepted = [] } = rules;
  const options = {
    ...{ command: "density" as const, typical, isRecounted, marketShare, threshold },
    calendar: rules.calendarNow,
    precisions: [...precisions],
    ...(coverage === undefined ? {} : { coverage }),
    ...(format === undefined ? {} : { format }),
    ...(accepted.length === 0 ? {} : { accepted: [...accepted] }),
    ...(provenance === undefined ? {} : { provenance }),
  };
  return await beginEntry(options, files);
}
