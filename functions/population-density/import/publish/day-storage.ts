import { ImportError } from "../../../../shared/import/import-error.ts";
import type { Anonymity } from "../../privacy/anonymous-tiles.ts";
import type { CountedDay } from "../../privacy/counted.ts";
import { weekdayOf } from "../../privacy/typical-week.ts";
import { observedDay, typicalDay } from "../../tiles/store.ts";
import { type TypicalCalendar, TypicalWeek } from "../../tiles/typical-calendar.ts";
import type { OnWait } from "../store/day-lease.ts";
import type { JudgedNumbers } from "../store/journal-store.ts";
import type { ListedPart } from "../store/tables.ts";
import type { Divisions } from "./divisions.ts";

/** How a day is stored; precisions finer than what was counted are not stored. */
export interface DayStorage extends Anonymity {
  /**
   * `observed`: as that date, which also counts towards the typical day of its weekday. `typical`: as the typical day
   * of its weekday, instead of what was known of the counted hours.
   */
  readonly kind: "observed" | "typical";
  /**
   * Whether people of a typical day were counted again: the parts of the earlier count are discarded, and what was
   * published of it is ignored.
   */
  readonly isRecounted?: boolean | undefined;
  /** Shared by the days of an import. */
  readonly divisions?: Divisions | undefined;
  /** The number of the import in the journal, which then has the parts that the day had before. */
  readonly importNumber?: number | undefined;
  /**
   * The parts that the day had before an import that is made again. The day keeps those that it has now, and the import
   * is divided as it was.
   */
  readonly partsBefore?: readonly ListedPart[] | undefined;
  /** The number of the import that is made again: days that were excluded later are not. */
  readonly replay?: number | undefined;
  /** See `settledParts`. */
  readonly onWait?: OnWait | undefined;
  /** What is published of an observed day, and what is unusual about it, for the journal. */
  readonly judged?: JudgedNumbers | undefined;
}

/** The day whose parts an import publishes. */
export function dayKey({ date }: Pick<CountedDay, "date">, { kind }: Pick<DayStorage, "kind">): string {
  return kind === "observed" ? observedDay(date) : typicalDay(weekdayOf(date));
}

/**
 * The UTC hours of a typical day are stored as they are: those of the reference week (`TypicalWeek`).
 * @throws {ImportError} for a day on which local time is ahead of or behind that week.
 */
export function checkTypicalDay(date: string, calendar: TypicalCalendar): void {
  if (new TypicalWeek(calendar).hasReferenceOffset(date)) return;
  throw new ImportError([
    `${date}: typical weekdays are given in the UTC hours of January 2026, and ${calendar.timeZone} has another ` +
      "offset on this day: name a day of January instead, with the UTC hours that its local hours have there",
  ]);
}
