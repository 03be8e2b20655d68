import { randomUUID } from "node:crypto";
import { hashed } from "../../../../shared/hash.ts";
import { anonymousTiles } from "../../privacy/anonymous-tiles.ts";
import type { CountedDay } from "../../privacy/counted.ts";
import { checkPublishing, recordPublishing } from "../../tiles/data-set-store.ts";
import type { ImportedDay } from "../../tiles/forecast-error.ts";
import { HeldDay, leaseMilliseconds, settledParts, waitingMilliseconds } from "../store/day-lease.ts";
import { excludedDays } from "../store/exclusion-store.ts";
import { recordDay } from "../store/journal-store.ts";
import { freeDay, readDayParts, takeDay } from "../store/part-store.ts";
import type { DayParts } from "../store/tables.ts";
import { refuseContradictions } from "./contradictions.ts";
import { contextOf } from "./day-context.ts";
import { type CheckedDay, divisionGiven, listedParts } from "./day-parts.ts";
import { type DayStorage, dayKey } from "./day-storage.ts";
import { storeTiles } from "./store-tiles.ts";

/** What an import has stored of a day. */
export interface StoredDay {
  /** Items of the table that depend on the day. */
  readonly items: number;
  /** Items that were written, because they were absent or different. */
  readonly changed: number;
  readonly compared: ImportedDay;
}

/**
 * Whether a day may be stored, given what is published of it, and by these rules.
 * @returns how it is divided as long as its parts are these.
 * @throws {ImportError} that says why not, and what can be done.
 */
export async function checkDay(day: CountedDay, storage: DayStorage): Promise<CheckedDay> {
  if (storage.partsBefore === undefined) await checkPublishing(storage);
  return await checkedDivision(await readDayParts(dayKey(day, storage)), day, storage);
}

async function checkedDivision(
  stored: DayParts | undefined,
  day: CountedDay,
  storage: DayStorage,
): Promise<CheckedDay> {
  const found = await divisionGiven(stored, day, storage);
  await refuseContradictions(day, storage, found);
  return found;
}

/**
 * Records K and stores a day by itself: see `storeCheckedDay`.
 * @throws {ImportError} for a day that must not be stored, or that another import is storing.
 */
export async function storeDay(day: CountedDay, storage: DayStorage): Promise<StoredDay> {
  const found = await checkDay(day, storage);
  const newestDay = storage.kind === "observed" ? day.date : undefined;
  await recordPublishing(storage, newestDay, storage.partsBefore !== undefined);
  return await storeCheckedDay(day, storage, found);
}

/**
 * Stores a day of counted people, so that nothing can be computed of cells with fewer people than the threshold: for
 * each tile the day itself, if it was observed, and the seven typical weekdays, all covering what the day covers.
 * Storing it again changes nothing; a day that was cut short is to be stored again. K was recorded before.
 * @param checked as `checkDay` found it: it is divided and checked again only if its parts have changed since.
 * @throws {ImportError} for a day that must not be stored, or that another import is storing.
 * @throws {TileNotStored} for a tile that fails; then no more calls are under way.
 */
export async function storeCheckedDay(
  day: CountedDay,
  storage: DayStorage,
  checked: CheckedDay,
): Promise<StoredDay> {
  const writer = randomUUID();
  const found = await takeSettled(day, storage, checked, writer);
  const key = dayKey(day, storage);
  const listed = listedParts(day, storage, found);
  try {
    const tiles = anonymousTiles(day, storage, found.division.partsIn);
    // An exclusion waits until no import has any day.
    const excluded = await excludedDays(storage.replay);
    const held = new HeldDay(key, day.date, storage.partsBefore === undefined ? listed : undefined, writer);
    const context = contextOf(day, storage, found, listed, excluded);
    const { items, changed, errors } = await storeTiles(tiles, context, held);
    const { renewed, created } = found.division;
    const published = [...renewed, ...(created === undefined ? [] : [created])].map(({ id }) => id);
    const area = hashed(published.sort().join());
    return { items, changed, compared: { day: day.date, area, errors, isChanged: changed > 0 } };
  } finally {
    await freeDay(key, writer);
  }
}

/** Waits until no other import stores the day, which is then this import's alone. */
async function takeSettled(
  day: CountedDay,
  storage: DayStorage,
  checked: CheckedDay,
  writer: string,
): Promise<CheckedDay> {
  const key = dayKey(day, storage);
  const deadline = Date.now() + waitingMilliseconds;
  let found = checked;
  for (;;) {
    const stored = await settledParts(key, day.date, deadline, storage.onWait);
    // Another import that had the day during the check has changed its tiles since, and not its revision.
    const isAsChecked = stored?.revision === found.stored?.revision && found.stored?.writer === undefined;
    if (!isAsChecked) found = await checkedDivision(stored, day, storage);
    // K, exclusions and the entry in the journal were written before.
    const { importNumber, judged } = storage;
    if (importNumber !== undefined) await recordDay(importNumber, day.date, found.parts, judged);
    const { created } = found.division;
    if (created !== undefined) await found.coverages.write(created);
    // False when the day has changed since it was read: nothing of it is this import's.
    if (await takeDay(key, writer, Date.now() + leaseMilliseconds, stored)) return found;
  }
}
