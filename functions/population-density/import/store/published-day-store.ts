/**
 * The days of which the table of densities has anything. Their parts are in the table of imports, which is kept when
 * the densities are lost. What is noted here tells when it is the other way round.
 */
import * as z from "zod/mini";
import { getItem, putItem, queryPartition, updateItem } from "../../../../shared/aws/database.ts";
import { withSchema } from "../../../../shared/table.ts";
import { densities } from "../../tiles/table.ts";
import { dayParts } from "./tables.ts";

const published = z.object({
  day: z.string(),
  /** Of the day's parts, when something was last published of them. */
  revision: z.number(),
});

/** A published day. */
export type PublishedDay = z.infer<typeof published>;

/** A day whose parts are still here, where earlier versions kept them. */
const earlierDay = z.extend(dayParts, { day: z.string() });

/** A day whose parts are still in the table of densities, where earlier versions kept them. */
export type EarlierDay = z.infer<typeof earlierDay>;

const table = withSchema(densities, z.union([earlierDay, published]));

/** Partition of all days. */
const daysPartition = "parts";

const callMilliseconds = 60_000;
const inTime = () => AbortSignal.timeout(callMilliseconds);

function keyOf(day: string) {
  return { tile: daysPartition, day };
}

/** @returns undefined for a day of which the table has nothing. */
export function readPublishedDay(day: string): Promise<EarlierDay | PublishedDay | undefined> {
  return getItem(table, keyOf(day), inTime());
}

/** Every day of which the table has something. */
export function readPublishedDays(): Promise<(EarlierDay | PublishedDay)[]> {
  return queryPartition(table, daysPartition, inTime());
}

/** Whether the parts of a day are still in the table of densities. */
export function isEarlier(day: EarlierDay | PublishedDay): day is EarlierDay {
  return "parts" in day;
}

/**
 * Notes that something will be published of a day.
 * @param revision of its parts, which list what is published.
 */
export async function markPublished(day: string, revision: number): Promise<void> {
  const update = "SET revision = :revision";
  const condition = "attribute_not_exists(revision) OR revision < :revision";
  await updateItem(densities, keyOf(day), { update, condition, values: { ":revision": revision } }, inTime());
}

/**
 * Replaces the parts of a day that were copied: imports of earlier versions no longer understand the day. Nothing
 * happens to a day that has changed since, or that an import of an earlier version is storing.
 */
export async function replaceEarlierParts({ day, revision }: EarlierDay): Promise<void> {
  const unchanged = {
    condition: "revision = :revision AND (attribute_not_exists(writerUntil) OR writerUntil < :now)",
    values: { ":revision": revision, ":now": Date.now() },
  };
  await putItem(densities, { ...keyOf(day), revision }, unchanged, inTime());
}
