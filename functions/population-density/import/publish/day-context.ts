import type { CountedDay } from "../../privacy/counted.ts";
import type { PartCells } from "../../privacy/part-areas.ts";
import { TypicalWeek, utcCalendar } from "../../tiles/typical-calendar.ts";
import type { ListedPart } from "../store/tables.ts";
import type { CheckedDay } from "./day-parts.ts";
import { type DayStorage, dayKey } from "./day-storage.ts";

/** What all tiles of a day have in common. */
export interface DayContext {
  readonly date: string;
  readonly kind: "observed" | "typical";
  /** `typicalDay` or `observedDay`. */
  readonly key: string;
  /** What typical weekdays follow. */
  readonly week: TypicalWeek;
  /** Whether the day stays out of typical weekdays. */
  readonly isExcluded: boolean;
  /** The parts of the day before this import. */
  readonly parts: readonly ListedPart[];
  /** What a part of the day before this import has in a tile. */
  readonly cellsOf: (part: string, precision: number, geohash: string) => PartCells;
  /** See `MergedPart`. */
  readonly boundPeopleOf: (part: string) => number;
}

/**
 * What all tiles of a day have in common.
 * @param listed the parts of the day from now on.
 */
export function contextOf(
  day: Pick<CountedDay, "date">,
  { kind, calendar = utcCalendar }: DayStorage,
  { parts, areas }: Pick<CheckedDay, "parts" | "areas">,
  listed: readonly ListedPart[],
  excluded: ReadonlySet<string>,
): DayContext {
  const partOf = (id: string) => {
    const part = listed.find((each) => each.id === id);
    if (part === undefined) throw new Error(`part ${id} is not of the day`);
    return part;
  };
  return {
    date: day.date,
    kind,
    key: dayKey(day, { kind }),
    week: new TypicalWeek(calendar, excluded),
    isExcluded: excluded.has(day.date),
    parts,
    cellsOf: (part, precision, geohash) => areas.in(part, partOf(part).threshold, precision, geohash),
    boundPeopleOf: (part) => partOf(part).threshold / partOf(part).marketShare,
  };
}
