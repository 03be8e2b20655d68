import { setTimeout as wait } from "node:timers/promises";
import { dayMilliseconds, dayOf } from "../../../shared/calendar.ts";
import { ImportError } from "../../../shared/import/import-error.ts";
import { divisionGiven, listedParts, partsOfDay } from "../import/publish/day-parts.ts";
import { dayKey } from "../import/publish/day-storage.ts";
import { type Coverages, PartCoverages } from "../import/store/coverage-store.ts";
import { readDaysOf } from "../import/store/journal-store.ts";
import { readDayParts } from "../import/store/part-store.ts";
import type { DayParts } from "../import/store/tables.ts";
import type { Coverage, Part } from "../privacy/parts.ts";
import { weekdayOf } from "../privacy/typical-week.ts";
import type { CountedFile } from "./counted-files.ts";
import type { ImportOrder, PlannedDay } from "./execution-objects.ts";
import { storageOf } from "./storage.ts";

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
  const storage = storageOf(order);
  const partsBefore = order.replay === undefined ? undefined : await readDaysOf(order.replay);
  const coverages = new PlannedCoverages();
  const left = new Map<string, DayParts>();
  const recounted = new Set<number>();
  const days: PlannedDay[] = [];
  for (const [day, hours] of namedHours(files)) {
    const date = dayOf(new Date(day * dayMilliseconds));
    const weekday = weekdayOf(date);
    const ofDay = {
      ...storage,
      coverages,
      isRecounted: order.isRecounted && !recounted.has(weekday),
      partsBefore: partsOfDay(date, partsBefore),
    };
    recounted.add(weekday);
    const key = dayKey({ date }, storage);
    const before = left.get(key) ?? (await settledParts(key, date));
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

/** A bit for each hour that any file names, by days in ascending order. */
function namedHours(files: readonly Pick<CountedFile, "hours">[]): ReadonlyMap<number, number> {
  const hours = new Map<number, number>();
  for (const { day, hour } of files.flatMap((file) => file.hours)) {
    hours.set(day, (hours.get(day) ?? 0) | (1 << hour));
  }
  return new Map([...hours].sort(([one], [other]) => one - other));
}

/** How long an import waits for others that store the same day, and how often it looks. */
const waitingMilliseconds = 120_000;
const pauseMilliseconds = 1_000;

/** The parts of a day that no other import is storing. */
async function settledParts(key: string, date: string): Promise<DayParts | undefined> {
  for (const deadline = Date.now() + waitingMilliseconds; ; await wait(pauseMilliseconds)) {
    const parts = await readDayParts(key);
    if ((parts?.writerUntil ?? 0) <= Date.now()) return parts;
    if (Date.now() < deadline) continue;
    throw new ImportError([`${date}: another import is storing it: repeat this one when it has ended`]);
  }
}
