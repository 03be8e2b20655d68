/**
 * A day on its way through an import.
 *
 * | Type        | What is known of the day                                          | Made in                  |
 * |-------------|-------------------------------------------------------------------|--------------------------|
 * | `SortedDay` | its counted tiles, and sums of its rows                           | `sort/sorted-days.ts`    |
 * | `CheckedDay`| the parts that it has, and how the import divides what it covers  | `publish/day-parts.ts`   |
 * | `JudgedDay` | what will be published of each part, and what is unusual about it | `judge/judge-import.ts`  |
 * | `StoredDay` | how many items were written, and how well it was predicted        | `publish/store-days.ts`  |
 */
import type { CountedDay } from "../privacy/counted.ts";
import type { PartAreas } from "../privacy/part-areas.ts";
import type { Division } from "../privacy/parts.ts";
import type { Finding } from "../tiles/findings.ts";
import type { ImportedDay } from "../tiles/forecast-error.ts";
import type { HourFigures } from "./judge/hour-figures.ts";
import type { DaySums, PartFigures } from "./judge/part-figures.ts";
import type { PartCoverages } from "./store/coverage-store.ts";
import type { DayParts, ListedPart } from "./store/tables.ts";

/** A day of sorted rows. */
export interface SortedDay extends CountedDay {
  readonly sums: DaySums;
}

/** A day that may be stored as long as its parts are these. */
export interface CheckedDay {
  /** Undefined for a day that was never published. */
  readonly stored: DayParts | undefined;
  /** Those parts of the day that count. */
  readonly parts: readonly ListedPart[];
  readonly division: Division;
  readonly coverages: PartCoverages;
  readonly areas: PartAreas;
}

/** A day that an import may publish. */
export interface JudgedDay {
  readonly date: string;
  /** Everything that was found; not all of it may be kept. */
  readonly found: readonly DatedFinding[];
  /** What may be kept and told. */
  readonly findings: readonly Finding[];
  readonly figures: readonly HourFigures[];
  /** As they are published afterwards: hours that the import does not name are as before. */
  readonly parts: readonly PartFigures[];
}

/** A finding as an import prints it. */
export interface DatedFinding extends Omit<Finding, "hours"> {
  readonly date: string;
}

/** What an import has stored of a day. */
export interface StoredDay {
  /** Items of the table that depend on the day. */
  readonly items: number;
  /** Items that were written, because they were absent or different. */
  readonly changed: number;
  readonly compared: ImportedDay;
}
