/** How long a job waits for its time, for a permit and for a worker. */
import type { Job } from "./job.ts";
import type { Permit } from "./permit-rules.ts";

const minPermitWaitSeconds = 5;

/** No permit stays free for longer than this while a job is waiting that may have it. */
export const maxPermitWaitSeconds = 20;

/** Added to the time until a job is due, because clocks differ. */
const skewSeconds = 1;

/**
 * Seconds for which to hide the message of a job that is not due. A job with an attempt in progress may become due long
 * before its lease ends, and this message may then be its only one.
 */
export function secondsUntilDue(
  { lastAttempt }: Pick<Job, "lastAttempt">,
  notBefore: number,
  now: number,
): number {
  const seconds = (notBefore - now) / 1_000 + skewSeconds;
  const isUnderWay = lastAttempt !== undefined && lastAttempt.outcome === undefined;
  return isUnderWay ? Math.min(seconds, maxPermitWaitSeconds) : seconds;
}

/**
 * Seconds after which a job without a permit asks again: 5 to 20. Jobs that have waited as long as any job that is
 * being sent ask twice as often as the newest.
 *
 * @param since when the job was due, in epoch milliseconds.
 * @param holdingBack the permits that hold it back; see `limitReached`.
 * @param random from 0 to 1.
 */
export function permitWaitSeconds(
  since: number,
  holdingBack: readonly Permit[],
  now: number,
  random: number,
): number {
  const longest = Math.max(1, ...holdingBack.map((permit) => now - permit.since));
  const age = Math.min(1, Math.max(0, now - since) / longest);
  return Math.max(minPermitWaitSeconds, maxPermitWaitSeconds * (1 - age / 2) * (0.5 + 0.5 * random));
}

/** A job that is still held back is recorded again after this time, when it next asks. */
const heldBackRecordMilliseconds = 60_000;

/** Longer than the time between two records. */
const heldBackMilliseconds = 120_000;

/** Whether to record that a job is held back: before its first attempt, and once in each period of records. */
export function isHeldBackRecordDue({ startedAt, heldBackAt }: Job, now: number): boolean {
  if (startedAt !== undefined) return false;
  return heldBackAt === undefined || now - heldBackAt >= heldBackRecordMilliseconds;
}

/**
 * How long a job without an attempt has been waiting for a worker; undefined while other uploads of its caller or to
 * its host hold it back. Afterwards the time counts from the last record that they did.
 */
export function workerWaitMilliseconds(
  { requestedAt, heldBackAt }: Pick<Job, "requestedAt" | "heldBackAt">,
  now: number,
): number | undefined {
  if (heldBackAt === undefined) return now - requestedAt;
  const wait = now - heldBackAt;
  return wait < heldBackMilliseconds ? undefined : wait;
}
