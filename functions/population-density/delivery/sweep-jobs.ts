import { logFault } from "../../../shared/aws/log.ts";
import { deadlineOf } from "./job.ts";
import type { PendingEntry, Ports } from "./ports.ts";
import { reportEnd } from "./report-end.ts";

/** The message of a younger job may still be on its way into the queue. */
const minAgeMilliseconds = 10_000;

/**
 * How many jobs are read to find one that waits for a worker: the index does not say, as an index of a table in use
 * cannot get a further attribute. The next one is then taken for it.
 */
const maxReads = 100;

type SweepPorts = Pick<Ports, "jobs" | "clock" | "newId" | "log" | "writeMetrics"> & {
  readonly queues: Pick<Ports["queues"], "send">;
};

/**
 * Processes the pending jobs: sends a message for those without one, ends those whose day is over, and measures the age
 * of the oldest. The next sweep retries what fails.
 */
export async function sweep(ports: SweepPorts, signal: AbortSignal): Promise<void> {
  const now = ports.clock.now();
  const entries = await ports.jobs.pending(signal);
  const ageOf = ({ pendingSince }: PendingEntry) => now - Date.parse(pendingSince);
  const secondsOf = (entry: PendingEntry | undefined) =>
    entry === undefined ? 0 : Math.max(0, ageOf(entry)) / 1_000;
  const waiting = await oldestForWorkers(entries, ports, signal);
  ports.writeMetrics([
    { metric: "OldestJobSeconds", value: secondsOf(entries[0]) },
    { metric: "OldestUnstartedJobSeconds", value: secondsOf(waiting) },
  ]);
  for (const entry of entries) {
    // Oldest first: the next sweep handles the rest.
    if (signal.aborted) return;
    if (deadlineOf({ requestedAt: now - ageOf(entry) }) <= now) await expire(entry, ports, signal);
    else if (isWithoutMessage(entry) && ageOf(entry) >= minAgeMilliseconds) await queue(entry, ports, signal);
  }
}

/**
 * The oldest job without an attempt that waits for a worker. Others wait for a permit, behind uploads of their own caller
 * or to their host: no worker could begin them, and it is for nobody here to do anything.
 */
async function oldestForWorkers(
  entries: readonly PendingEntry[],
  ports: SweepPorts,
  signal: AbortSignal,
): Promise<PendingEntry | undefined> {
  const unstarted = entries.filter(({ startedAt }) => startedAt === undefined);
  for (const entry of unstarted.slice(0, maxReads)) {
    if (!(await waitsForPermit(entry, ports, signal))) return entry;
  }
  return unstarted[maxReads];
}

/** False for a job that cannot be read. */
async function waitsForPermit(
  { operationId }: PendingEntry,
  ports: SweepPorts,
  signal: AbortSignal,
): Promise<boolean> {
  let host: string | undefined;
  await logFailure(ports, async () => {
    host = (await ports.jobs.read(operationId, signal))?.waitsFor;
  });
  return host !== undefined;
}

function isWithoutMessage({ queuedAt }: PendingEntry): boolean {
  return queuedAt === undefined;
}

/**
 * Sends a message, then records its time in the job. A crash in between leads to a second message; both are received
 * until the job has ended, or until one of them is worn and the other replaces it.
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
  const { jobs, clock, newId } = ports;
  await logFailure(ports, async () => {
    const job = await jobs.read(operationId, signal);
    if (job === undefined || job.state !== "pending") return;
    const now = clock.now();
    const leaseId = newId();
    if (
      !(await jobs.acquireLease(
        job,
        { id: leaseId, mode: job.mode, now, until: now, isAttempt: false },
        signal,
      ))
    )
      return;
    const end = { kind: "finish", outcome: "failed", reason: "expired" } as const;
    if (await jobs.finish(job, leaseId, end, signal)) reportEnd(job, end, ports);
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
