import type { Job } from "./job.ts";

/**
 * A message is replaced after this many receives. SQS's limit is 1,000; the rest suffices for a day's outage of a
 * table.
 */
const maxReceives = 500;

/**
 * A message that is older than the recorded one by less than this is taken for the same, because the clocks of queue
 * and sender differ. A message that was replaced because it is exhausted is much older.
 */
const clockDifferenceMilliseconds = 600_000;

/**
 * The state of a received message: `replaced` if a later one of its job was sent, `exhausted` if it should be replaced.
 *
 * @param sentAt when SQS received it, in epoch milliseconds.
 */
export function messageState(
  { queuedAt }: Pick<Job, "queuedAt">,
  { sentAt, receives }: { readonly sentAt: number; readonly receives: number },
): "replaced" | "exhausted" | "good" {
  if (queuedAt === undefined) return "good";
  if (queuedAt - sentAt > clockDifferenceMilliseconds) return "replaced";
  return receives > maxReceives ? "exhausted" : "good";
}
