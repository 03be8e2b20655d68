/**
 * The parts of each day, and which import is storing it.
 *
 * ```text
 *                 takeDay                   listDayParts                    freeDay
 * read the day ─────────────▶ the import's ──────────────▶ parts are listed ───────────▶ free for others
 *        ▲  false: changed        │ its parts are as before     │ keepDay, while tiles are written
 *        └────────────────────────┘                             │ false: another import has taken it since
 * ```
 *
 * `writerUntil` ends a lease that no import releases. Each change that decides what is
 * published counts `revision` up, and `takeDay` succeeds only on the revision that was read.
 */
import * as z from "zod/mini";
import { inTime } from "../../../../shared/aws/clients.ts";
import { getItem, queryPartition, updateAndReturn, updateItem } from "../../../../shared/aws/database.ts";
import { ImportError } from "../../../../shared/import/import-error.ts";
import { withSchema } from "../../../../shared/table.ts";
import {
  markPublished,
  type PublishedDay,
  readPublishedDay,
  readPublishedDays,
} from "./published-day-store.ts";
import { type DayParts, densityImports, keptDay, type ListedPart } from "./tables.ts";

/** Partition of all days. */
const daysPartition = "parts";

function keyOfDay(day: string) {
  return { kind: daysPartition, id: day };
}

/**
 * Reads the parts of a day.
 * @param day `typicalDay` or `observedDay`.
 * @returns undefined for a day that was never published.
 * @throws {ImportError} for a day that was published, but whose parts are lost.
 */
export async function readDayParts(day: string): Promise<DayParts | undefined> {
  const published = await readPublishedDay(day);
  const kept = await getItem(densityImports, keyOfDay(day), inTime());
  if (published !== undefined && isLost(published, kept)) throw lostParts([day]);
  return kept;
}

/**
 * Whether something was published of a day since its parts were as they are: the table of imports was lost, or restored
 * as it was earlier.
 */
function isLost({ revision }: PublishedDay, kept: DayParts | undefined): boolean {
  return (kept?.revision ?? 0) < revision;
}

function lostParts([first = "", ...others]: readonly string[]): ImportError {
  const further = others.length === 0 ? "" : ` and ${others.length} more`;
  return new ImportError([
    `${first.replace(/^(?:day|week)#/, "")}${further}: densities were published, but their parts are not in the table ` +
      `of ${densityImports.name}: without them an import could disclose suppressed counts. ` +
      "Restore that table as docs/recovery.md says",
  ]);
}

/**
 * Checks that the parts of every published day are known, before an import does anything.
 * @throws {ImportError} if parts are lost.
 */
export async function checkParts(): Promise<void> {
  const published = await readPublishedDays();
  const kept = await queryPartition(withSchema(densityImports, keptDay), daysPartition, inTime());
  const keptDays = new Map(kept.map((day) => [day.id, day]));
  const lost = published.filter((day) => isLost(day, keptDays.get(day.day)));
  if (lost.length > 0) throw lostParts(lost.map(({ day }) => day));
}

/** Until when imports are storing any day, in epoch milliseconds; in the past if none is. */
export async function anyDayStoredUntil(): Promise<number> {
  const days = await queryPartition(withSchema(densityImports, keptDay), daysPartition, inTime());
  return Math.max(0, ...days.map(({ writerUntil = 0 }) => writerUntil));
}

/**
 * Makes a day an import's own. Its parts stay as they are until `listDayParts`.
 * @param until epoch milliseconds.
 * @param read the day as its next parts were decided from; undefined if it was never published.
 * @returns whether it is the import's; false when it has changed since it was read: read it again.
 */
export async function takeDay(
  day: string,
  writer: string,
  until: number,
  read: Pick<DayParts, "revision"> | undefined,
): Promise<boolean> {
  const update =
    "SET parts = if_not_exists(parts, :none), writer = :writer, writerUntil = :until ADD revision :one";
  const values = { ":none": [], ":writer": writer, ":until": until, ":one": 1 };
  const condition =
    read === undefined
      ? { condition: "attribute_not_exists(kind)", values }
      : { condition: "revision = :read", values: { ...values, ":read": read.revision } };
  if (await updateItem(densityImports, keyOfDay(day), { update, ...condition }, inTime())) return true;
  // The answer to the call that took it may have been lost, or an earlier attempt have taken it.
  return (await readDayParts(day))?.writer === writer;
}

/**
 * Lists the parts of a day before anything is published of them: from now on their cells do not change. An import
 * that has read the day before can no longer take it.
 * @param parts if undefined, the day keeps those that it has.
 * @returns false when the day is another import's by now.
 */
export async function listDayParts(
  day: string,
  parts: readonly ListedPart[] | undefined,
  writer: string,
  until: number,
): Promise<boolean> {
  const change = parts === undefined ? "" : "parts = :parts, ";
  const update = `SET ${change}writerUntil = :until ADD revision :one`;
  const values = {
    ...(parts === undefined ? {} : { ":parts": parts }),
    ":until": until,
    ":writer": writer,
    ":one": 1,
  };
  const listing = { update, condition: "writer = :writer", values };
  const listed = await updateAndReturn(densityImports, keyOfDay(day), listing, revised, inTime());
  if (listed === undefined) return false;
  await markPublished(day, listed.revision);
  return true;
}

const revised = z.object({ revision: z.number() });

/** @returns false when the day is another import's by now. */
export function keepDay(day: string, writer: string, until: number): Promise<boolean> {
  const update = "SET writerUntil = :until";
  const condition = { condition: "writer = :writer", values: { ":until": until, ":writer": writer } };
  return updateItem(densityImports, keyOfDay(day), { update, ...condition }, inTime());
}

/** Lets other imports store the day. */
export async function freeDay(day: string, writer: string): Promise<void> {
  const update = "REMOVE writer, writerUntil";
  const condition = { condition: "writer = :writer", values: { ":writer": writer } };
  await updateItem(densityImports, keyOfDay(day), { update, ...condition }, inTime());
}
