import { dayMilliseconds, dayOf } from "../../../shared/calendar.ts";
import { divisionGiven, listedParts, partsOfDay } from "../import/publish/day-parts.ts";
import { dayKey } from "../import/publish/day-storage.ts";
import { Divisions } from "../import/publish/divisions.ts";
import { daysAsMade, recountedDates, storageOf } from "../import/publish/import-order.ts";
import { NamedHours } from "../import/sort/named-hours.ts";
import { type Coverages, PartCoverages } from "../import/store/coverage-store.ts";
import { settledParts, waitingMilliseconds } from "../import/store/day-lease.ts";
import type { DayParts } from "../import/store/tables.ts";
import type { Coverage, Part } from "../privacy/parts.ts";
import type { CountedFile } from "./counted-files.ts";
import type { ImportOrder, PlannedDay } from "./execution-objects.ts";

/** The days of an import, and the parts that they have or get. */
export interface PlannedDays {
  /** In ascending order. */
  readonly days: readonly PlannedDay[];
  /** By their ids. */
  readonly parts: ReadonlyMap<string, Part>;
}

/**
 * Decides of each day which parts it has from now on. The days follow one another: two dates may have hours of one
 * weekday, and the second is planned after what the first one leaves.
 * @throws {ImportError} for a day that must not be stored, or that another import is storing.
 */
export async function planDays(
  order: ImportOrder,
  files: readonly Pick<CountedFile, "hours">[],
  precision: number,
  coverage: Coverage,
): Promise<PlannedDays> {
  const asMade = await daysAsMade(order);
  const coverages = new PlannedCoverages();
  const storage = { ...storageOf(order), divisions: new Divisions(coverages) };
  const left = new Map<string, DayParts>();
  const named = new NamedHours();
  for (const first of files.flatMap((file) => file.hours)) named.add(first);
  const dates = named.days().map(([day]) => dateOf(day));
  const recounted = recountedDates(order, dates);
  const deadline = Date.now() + waitingMilliseconds;
  const days: PlannedDay[] = [];
  for (const [day, hours] of named.days()) {
    const date = dateOf(day);
    const isRecounted = recounted.has(date);
    const ofDay = { ...storage, isRecounted, partsBefore: partsOfDay(date, asMade) };
    const key = dayKey({ date }, storage);
    const before = left.get(key) ?? (await settledParts(key, date, deadline));
    const found = await divisionGiven(before, { date, precision, coverage }, ofDay);
    const { renewed, created } = found.division;
    const listed = [...listedParts({ precision }, ofDay, found)];
    for (const part of [...found.known, ...(created === undefined ? [] : [created])]) coverages.add(part);
    left.set(key, { parts: listed, revision: (before?.revision ?? 0) + 1 });
    days.push({
      date,
      day,
      hours,
      parts: [...found.parts],
      listed,
      renewed: renewed.map(({ id }) => id),
      ...(created === undefined ? {} : { created: created.id }),
      ...(before === undefined ? {} : { revision: before.revision }),
    });
  }
  return { days, parts: coverages.planned };
}

function dateOf(day: number): string {
  return dayOf(new Date(day * dayMilliseconds));
}

/** Cells of parts: of those that the plan knows, and of stored ones. */
class PlannedCoverages implements Coverages {
  readonly planned = new Map<string, Part>();
  readonly #stored = new PartCoverages();

  add(part: Part): void {
    this.planned.set(part.id, part);
  }

  async read(part: Parameters<Coverages["read"]>[0]): Promise<Part> {
    return this.planned.get(part.id) ?? (await this.#stored.read(part));
  }

  isStored(part: Parameters<Coverages["isStored"]>[0]): Promise<boolean> {
    return this.#stored.isStored(part);
  }

  write(part: Part): Promise<void> {
    return this.#stored.write(part);
  }
}
