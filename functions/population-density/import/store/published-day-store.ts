/**
 * The days of which the table of densities has anything. Their parts are in the table of imports, which is kept when
 * the densities are lost. What is noted here tells when it is the other way round.
 */
import * as z from "zod/mini";
import { inTime } from "../../../../shared/aws/clients.ts";
import { getItem, queryPartition, updateItem } from "../../../../shared/aws/database.ts";
import { withSchema } from "../../../../shared/table.ts";
import { densities } from "../../tiles/table.ts";

const published = z.object({
  day: z.string(),
  /** The revision of the day's parts when something was last published of them. */
  revision: z.number(),
});

/** A published day. */
export type PublishedDay = z.infer<typeof published>;

const table = withSchema(densities, published);

/** Partition of all days. */
const daysPartition = "parts";

function keyOf(day: string) {
  return { tile: daysPartition, day };
}

/** @returns undefined for a day of which the table has nothing. */
export function readPublishedDay(day: string): Promise<PublishedDay | undefined> {
  return getItem(table, keyOf(day), inTime());
}

/** Every day of which the table has something. */
export function readPublishedDays(): Promise<PublishedDay[]> {
  return queryPartition(table, daysPartition, inTime());
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
