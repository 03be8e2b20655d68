import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { callMilliseconds } from "../../../../shared/aws/clients.ts";
import { ImportError } from "../../../../shared/import/import-error.ts";
import { anonymousTiles } from "../../privacy/anonymous-tiles.ts";
import type { CountedDay } from "../../privacy/counted.ts";
import { checkPublishing, recordPublishing } from "../../tiles/data-set-store.ts";
import type { ImportedDay } from "../../tiles/forecast-error.ts";
import { type DayLease, HeldDay } from "../store/day-lease.ts";
import { excludedDays } from "../store/exclusion-store.ts";
import { recordDay } from "../store/journal-store.ts";
import { releaseDay, takeDay } from "../store/part-store.ts";
import { refuseContradictions } from "./contradictions.ts";
import { areaOf, contextOf } from "./day-context.ts";
import { divisionOf, type FoundDay, listedParts } from "./day-parts.ts";
import { type DayStorage, dayKey } from "./day-storage.ts";
import { type DayStored, storeTiles } from "./store-tiles.ts";

/**
 * Whether a day may be stored, given what is published of it, and by these rules.
 * @returns how it would be divided by now.
 * @throws {ImportError} that says why not, and what can be done.
 */
export async function checkDay(day: CountedDay, storage: DayStorage): Promise<FoundDay> {
  if (storage.partsBefore === undefined) await checkPublishing(storage);
  const found = await divisionOf(day, storage);
  await refuseContradictions(day, storage, found);
  return found;
}

/** How long an import has a day to itself unless it renews its lease: longer than a throttled tile may take. */
const leaseMilliseconds = 2 * callMilliseconds + 60_000;

/**
 * Stores a day of counted people, so that nothing can be computed of cells with fewer people than the threshold: for
 * each tile the day itself, if it was observed, and the seven typical weekdays, all covering what the day covers.
 * Storing it again changes nothing; a day that was cut short is to be stored again.
 * @throws {ImportError} for a day that must not be stored, or that another import is storing.
 * @throws {TileNotStored} for a tile that fails; then no more calls are under way.
 */
export async function storeDay(
  day: CountedDay,
  storage: DayStorage,
): Promise<Omit<DayStored, "errors"> & { readonly compared: ImportedDay }> {
  const lease = { writer: randomUUID(), milliseconds: leaseMilliseconds };
  const found = await beginWriting(day, storage, lease);
  const key = dayKey(day, storage);
  const listed = listedParts(day, storage, found);
  const isReplay = storage.partsBefore !== undefined;
  try {
    if (storage.importNumber !== undefined) {
      await recordDay(storage.importNumber, day.date, found.parts, storage.judged);
    }
    await recordPublishing(storage, storage.kind === "observed" ? day.date : undefined, isReplay);
    const tiles = anonymousTiles(day, storage, found.division.partsIn);
    // An exclusion waits until no import has any day.
    const excluded = await excludedDays(storage.replay);
    const held = new HeldDay(key, day.date, isReplay ? undefined : listed, lease);
    const { errors, ...stored } = await storeTiles(
      tiles,
      contextOf(day, storage, found, listed, excluded),
      held,
    );
    const { renewed, created } = found.division;
    const area = areaOf([...renewed.map(({ id }) => id), ...(created === undefined ? [] : [created.id])]);
    return { ...stored, compared: { day: day.date, area, errors, isChanged: stored.changed > 0 } };
  } finally {
    await releaseDay(key, lease.writer);
  }
}

/** How long an import waits for others that store the same day, and how often it looks. */
const waitingMilliseconds = leaseMilliseconds + 60_000;
const pauseMilliseconds = 200;

/** Waits until no other import stores the day, which is then this import's alone. */
async function beginWriting(day: CountedDay, storage: DayStorage, lease: DayLease): Promise<FoundDay> {
  for (
    const deadline = Date.now() + waitingMilliseconds;
    Date.now() < deadline;
    await wait(pauseMilliseconds)
  ) {
    const found = await divisionOf(day, storage);
    await refuseContradictions(day, storage, found);
    // The answer to the call that took it may have been lost.
    if (found.stored?.writer === lease.writer) return found;
    if ((found.stored?.writerUntil ?? 0) > Date.now()) continue;
    const { created } = found.division;
    if (created !== undefined) await found.coverages.write(created);
    const until = Date.now() + lease.milliseconds;
    if (await takeDay(dayKey(day, storage), lease.writer, until, found.stored)) return found;
  }
  throw new ImportError([`${day.date}: another import is storing it: repeat this one when it has ended`]);
}
