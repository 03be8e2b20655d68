import { logFault } from "../../../shared/aws/log.ts";
import { dayMilliseconds } from "../../../shared/calendar.ts";
import { endWithoutAttempt } from "./end-job.ts";
import { deadlineOf } from "./job.ts";
import type { PendingEntry, Ports } from "./ports.ts";
import { workerWaitMilliseconds } from "./waits.ts";

/** The message of a younger job may still be on its way into the queue. */
const minAgeMilliseconds = 10_000;

/**
 * How many jobs are read to find the one that has waited longest for a worker: the index does not say, as an index of a
 * table in use cannot get a further attribute. The next one is then taken to have waited since its request.
 */
const maxReads = 100;

type SweepPorts = Pick<Ports, "jobs" | "clock" | "newId" | "log" | "writeMetrics"> & {
  readonly queues: Pick<Ports["queues"], "send">;
  /** The latest observed day of densities, such as `2026-11-21`; undefined if none is stored. */
  readonly newestObservedDay: (signal: AbortSignal) => Promise<string | undefined>;
};

/**
 * Processes the pending jobs: sends a message for those without one, ends those whose day is over, and measures the age
 * of the oldest. Then it measures the age of the densities. The next sweep retries what fails.
 */
export async function sweep(ports: SweepPorts, signal: AbortSignal): Promise<void> {
  const now = ports.clock.now();
  const entries = await ports.jobs.pending(signal);
  const ageOf = ({ pendingSince }: PendingEntry) => now - Date.parse(pendingSince);
  const oldest = entries[0] === undefined ? 0 : Math.max(0, ageOf(entries[0]));
  const longestWait = await longestWorkerWait(entries, now, ports, signal);
  ports.writeMetrics([
    { metric: "OldestJobSeconds", value: oldest / 1_000 },
    { metric: "OldestUnstartedJobSeconds", value: longestWait / 1_000 },
  ]);
  for (const entry of entries) {
    // Oldest first: the next sweep handles the rest.
    if (signal.aborted) return;
    if (deadlineOf({ requestedAt: now - ageOf(entry) }) <= now) await expire(entry, ports, signal);
    else if (isWithoutMessage(entry) && ageOf(entry) >= minAgeMilliseconds) await queue(entry, ports, signal);
  }
  await measureObservedDay(now, ports, signal);
}

async function measureObservedDay(now: number, ports: SweepPorts, signal: AbortSignal): Promise<void> {
  await logFailure(ports, async () => {
    const newest = await ports.newestObservedDay(signal);
    if (newest === undefined) return;
    const value = Math.floor((now - Date.parse(newest)) / dayMilliseconds);
    ports.writeMetrics([{ metric: "ObservedDayAgeDays", value }]);
  });
}

/**
 * The longest that a job without an attempt has been waiting for a worker, in milliseconds. A job that other uploads of
 * its caller or to its host hold back does not count: more workers would not help it.
 */
async function longestWorkerWait(
  entries: readonly PendingEntry[],
  now: number,
  ports: SweepPorts,
  signal: AbortSignal,
): Promise<number> {
  const unstarted = entries.filter(({ startedAt }) => startedAt === undefined);
  let longest = 0;
  for (const [index, entry] of unstarted.entries()) {
    const age = now - Date.parse(entry.pendingSince);
    // All others are younger.
    if (age <= longest) break;
    if (index === maxReads) return age;
    longest = Math.max(longest, await workerWait(entry, age, now, ports, signal));
  }
  return longest;
}

/** A job that cannot be read is taken to have waited since its request. */
async function workerWait(
  { operationId }: PendingEntry,
  age: number,
  now: number,
  ports: SweepPorts,
  signal: AbortSignal,
): Promise<number> {
  let wait = age;
  await logFailure(ports, async () => {
    const job = await ports.jobs.read(operationId, signal);
    // The index may miss the most recent writes.
    const isWaiting = job?.state === "pending" && job.startedAt === undefined;
    wait = isWaiting ? (workerWaitMilliseconds(job, now) ?? 0) : 0;
  });
  return wait;
}

function isWithoutMessage({ queuedAt }: PendingEntry): boolean {
  return queuedAt === undefined;
}

/**
 * Sends a message, then records its time in the job. A crash in between leads to a second message; both are received
 * until the job has ended, or until one of them is exhausted and the other replaces it.
 */
async function queue({ operationId }: PendingEntry, ports: SweepPorts, signal: AbortSignal): Promise<void> {
  const { jobs, queues, clock } = ports;
  await logFailure(ports, async () => {
    const sentAt = clock.now();
    await queues.send(operationId, signal);
    await jobs.markQueued(operationId, sentAt, signal);
  });
}

/** Ends a job that has expired without an outcome: nothing more will be sent to its sink. */
async function expire({ operationId }: PendingEntry, ports: SweepPorts, signal: AbortSignal): Promise<void> {
  await logFailure(ports, async () => {
    const job = await ports.jobs.read(operationId, signal);
    if (job?.state !== "pending") return;
    await endWithoutAttempt(job, { outcome: "failed", reason: "expired" }, ports, signal);
  });
}

/** Logs a failure of one job, so that it does not stop the others. */
async function logFailure({ log }: SweepPorts, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    logFault(error, {}, log);
  }
}
