import { setTimeout as wait } from "node:timers/promises";
import { numberAssignments } from "../../functions/number-recycling/tables.ts";
import { profiles } from "../../functions/profile/tables.ts";
import { accessRecords } from "../../shared/access-records/table.ts";
import { type Condition, deleteItem, type Key } from "../../shared/aws/database.ts";
import { devices } from "../../shared/devices/table.ts";
import { deadlineMilliseconds } from "../../shared/http/deadline.ts";
import type { Table } from "../../shared/table.ts";
import type { StoredItem } from "../aws/scan-items.ts";
import { withLeases } from "../import/table-lease.ts";
import { storedAbout } from "./stored-about.ts";
import { recordedAccesses, type Subject } from "./stored-data.ts";
import { patience, type StoredData } from "./stored-items.ts";

/** How many items are deleted at a time. */
const itemsAtOnce = 25;

/** Waits until every request has ended that found the device before it was deleted. */
const untilRequestsEnd = () => wait(deadlineMilliseconds + 1_000);

type Counts = readonly (readonly [table: string, count: number])[];

/**
 * Deletes what is stored about a person, and leaves what has become another person's since it was read.
 * @param keepsAccessRecords whether to leave the records of who read what.
 * @param settle waits before the records of requests that were under way are deleted.
 * @returns how many items were deleted of each table.
 */
export async function erase(
  named: string,
  keepsAccessRecords: boolean,
  settle: () => Promise<void> = untilRequestsEnd,
): Promise<Counts> {
  return await withLeases(importedTables, async (renew) => {
    const { subject, data } = await storedAbout(named);
    const counts: (readonly [string, number])[] = [];
    for (const one of data) {
      if (one.table.name === accessRecords.name && keepsAccessRecords) continue;
      counts.push([one.table.name, await eraseIn(one, subject, renew)]);
    }
    if (keepsAccessRecords) return counts;
    await settle();
    return [...counts, ...(await eraseLateRecords(subject, renew))];
  });
}

/**
 * What imports write about persons: one that runs meanwhile may be about to write what is deleted. The other tables are
 * written by requests alone. Those of a login may go on until its token expires; what they leave expires by itself,
 * except for webhook secrets, which are refused that long.
 */
const importedTables = [profiles, numberAssignments, devices];

type Renew = () => Promise<void>;

async function eraseIn(
  { table, items, owner, beforehand, erase: eraseAll }: StoredData,
  { subscription }: Subject,
  renew: Renew,
): Promise<number> {
  await beforehand?.();
  if (eraseAll === undefined) {
    const ours = owner === undefined ? exists(table) : isOf(owner, subscription);
    return await deleteAll(table, items, ours, renew);
  }
  await eraseAll();
  return items.length;
}

/**
 * Deletes the records of requests that were being answered while the device was deleted.
 * @throws {Error} that says how to repeat it: a number leads to nobody any more.
 */
async function eraseLateRecords(subject: Subject, renew: Renew): Promise<Counts> {
  try {
    const late = await recordedAccesses(subject);
    if (late.length === 0) return [];
    return [[accessRecords.name, await deleteAll(accessRecords, late, exists(accessRecords), renew)]];
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`${reason}; repeat it with the subscription, ${subject.subscription}`, { cause });
  }
}

function isOf(owner: string, subscription: string): Condition {
  return { condition: "#owner = :owner", names: { "#owner": owner }, values: { ":owner": subscription } };
}

/** Deletes items, the last one when the others are gone, and counts those that were. */
async function deleteAll(
  table: Table,
  items: readonly StoredItem[],
  condition: Condition,
  renew: Renew,
): Promise<number> {
  let deleted = 0;
  for (const batch of batchesOf(items)) {
    await renew();
    const signal = patience();
    const remove = (item: StoredItem) => deleteItem(table, keyOf(table, item), condition, signal);
    const outcomes = await Promise.all(batch.map(remove));
    deleted += outcomes.filter(Boolean).length;
  }
  return deleted;
}

function keyOf({ partitionKey, sortKey }: Table, item: StoredItem): Key {
  const names = sortKey === undefined ? [partitionKey] : [partitionKey, sortKey];
  return Object.fromEntries(names.map((name) => [name, String(item[name])]));
}

function exists({ partitionKey }: Table): Condition {
  return { condition: "attribute_exists(#key)", names: { "#key": partitionKey } };
}

function batchesOf(items: readonly StoredItem[]): (readonly StoredItem[])[] {
  const batches: (readonly StoredItem[])[] = [];
  for (let from = 0; from < items.length - 1; from += itemsAtOnce) {
    batches.push(items.slice(from, Math.min(from + itemsAtOnce, items.length - 1)));
  }
  return [...batches, items.slice(-1)];
}
