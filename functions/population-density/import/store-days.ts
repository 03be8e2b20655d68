import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { ImportError } from "../../../shared/import/import-error.ts";
import { anonymousTiles } from "./anonymous-tiles.ts";
import type { CountedDay } from "./counted.ts";
import {
  contextOf,
  type DayStorage,
  dayKey,
  divisionOf,
  type FoundDay,
  listedParts,
  refuseContradictions,
} from "./day-division.ts";
import { type ListedPart, releaseDay, replaceDayParts } from "./part-store.ts";
import { type DayLease, type DayStored, storeTiles } from "./store-tiles.ts";
import { callMilliseconds } from "./tile-items.ts";

/**
 * Whether a day may be stored beside what is published of it.
 * @throws {ImportError} that says why not, and what can be done.
 */
export async function checkDay(day: CountedDay, storage: DayStorage): Promise<void> {
  await refuseContradictions(day, storage, await divisionOf(day, storage));
}

/**
 * A day is an import's own for so long, unless it says that it is still at it: longer than a throttled tile may take.
 */
const leaseMilliseconds = 2 * callMilliseconds + 60_000;

/**
 * Stores a day of counted people, so that nothing can be computed of cells with fewer people than the threshold: for
 * each tile the day itself, if it was observed, and its seven typical weekdays, all covering what the day covers.
 * Storing it again changes nothing; a day that was cut short is to be stored again.
 * @throws {ImportError} for a day that must not be stored, or that another import is storing.
 * @throws {TileNotStored} for a tile that fails; then no more calls are under way.
 */
export async function storeDay(day: CountedDay, storage: DayStorage): Promise<DayStored> {
  const lease = { writer: randomUUID(), milliseconds: leaseMilliseconds };
  const { found, listed } = await beginWriting(day, storage, lease);
  try {
    const tiles = anonymousTiles(day, storage, found.division.partsIn);
    return await storeTiles(tiles, contextOf(day, storage, found, listed), lease);
  } finally {
    await releaseDay(dayKey(day, storage), lease.writer);
  }
}

/** How long an import waits for others that store the same day, and how often it looks. */
const waitingMilliseconds = leaseMilliseconds + 60_000;
const pauseMilliseconds = 200;

/** A day that is this import's alone. */
interface BegunDay {
  readonly found: FoundDay;
  /** Its parts from now on. */
  readonly listed: readonly ListedPart[];
}

/** Waits until no other import stores the day. */
async function beginWriting(day: CountedDay, storage: DayStorage, lease: DayLease): Promise<BegunDay> {
  for (
    const deadline = Date.now() + waitingMilliseconds;
    Date.now() < deadline;
    await wait(pauseMilliseconds)
  ) {
    const found = await divisionOf(day, storage);
    await refuseContradictions(day, storage, found);
    if ((found.stored?.writerUntil ?? 0) > Date.now()) continue;
    const listed = await listParts(day, storage, found, lease);
    if (listed !== undefined) return { found, listed };
  }
  throw new ImportError([`${day.date}: another import is storing it: repeat this one when it has ended`]);
}

/**
 * Lists the parts of the day before anything is published of them: from now on their cells do not change.
 * @returns undefined if another import did so since the day was read.
 */
async function listParts(
  day: CountedDay,
  storage: DayStorage,
  found: FoundDay,
  { writer, milliseconds }: DayLease,
): Promise<readonly ListedPart[] | undefined> {
  const parts = listedParts(day, storage, found);
  const { created } = found.division;
  if (created !== undefined) await found.coverages.write(created);
  const next = { parts, writer, writerUntil: Date.now() + milliseconds };
  return (await replaceDayParts(dayKey(day, storage), next, found.stored)) ? parts : undefined;
}
