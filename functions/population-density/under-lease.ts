import { log } from "../../shared/aws/log.ts";
import { writeMetrics } from "../../shared/aws/metrics.ts";
import { sendMessage } from "../../shared/aws/queue.ts";
import { Unavailable } from "../../shared/errors.ts";
import { type QueueName, workerSeconds } from "../../shared/queues.ts";
import { sinkHost } from "../../shared/sinks/sink-url.ts";
import type { Disposal } from "../../shared/worker.ts";
import type { Attemptable, Outcome } from "./attempt.ts";
import {
  dismissOperations,
  endJob,
  giveSlotBack,
  goRound,
  leaseJob,
  ofCaller,
  ofHost,
  readJob,
  returnJob,
  type Slot,
  takeSlot,
} from "./jobs.ts";

/** Longer than a worker may run: whoever holds a lease that has run out is gone. */
const leaseMilliseconds = (workerSeconds + 30) * 1_000;

/** How long a job waits for a place before it asks again. */
const crowdedSeconds = 5;

/** For recording what came of an attempt, also when the attempt has used up all other time. */
const recordingMilliseconds = 4_000;

/**
 * Lets nobody else work on a job while an attempt is made, records what came of it, and says what becomes of the
 * message that asked for it. However often the message comes, there is one attempt at a time, none before it is due,
 * and one outcome.
 *
 * @param queue where the message came from.
 * @param signal ends everything but the recording.
 * @param attempt is given the job with the attempt counted.
 * @throws {Unavailable} when the store does not answer; an attempt that was made then may be made again.
 */
export async function underLease(
  queue: QueueName,
  operationId: string,
  now: Date,
  signal: AbortSignal,
  attempt: (job: Attemptable) => Promise<Outcome>,
): Promise<Disposal> {
  const job = await readJob(operationId, now, signal);
  const { state, sink, leasedUntil = 0 } = job ?? {};
  if (job === undefined) log("JOB_GONE", { operationId });
  if (job === undefined || state !== "pending" || sink === undefined) return "done";
  if (leasedUntil > now.getTime()) return { againInSeconds: (leasedUntil - now.getTime()) / 1_000 };

  const lease = crypto.randomUUID();
  const until = new Date(now.getTime() + leaseMilliseconds);
  const slots: Slot[] = [];
  try {
    for (const crowd of [ofHost(sinkHost(sink)), ofCaller(job.caller)]) {
      const slot = await takeSlot(crowd, lease, until, now, signal);
      if (slot === undefined) return await waitOutside(queue, operationId, now, signal);
      slots.push(slot);
    }
    if (!(await leaseJob(job, lease, until, now, signal))) return whenLeaseIsOver;
    const counted = { ...job, sink, attempts: job.attempts + 1 };
    return await record(counted, lease, await attempt(counted));
  } finally {
    await Promise.all(slots.map(free));
  }
}

/** Waiting for others is no attempt, and a message that is received too often is dead: a new one is sent. */
async function waitOutside(
  queue: QueueName,
  operationId: string,
  now: Date,
  signal: AbortSignal,
): Promise<Disposal> {
  if (await goRound(operationId, crowdedSeconds - 1, now, signal)) {
    await sendMessage(queue, { version: 1, operationId }, crowdedSeconds, signal);
  }
  return "done";
}

/** Somebody else is at it. */
const whenLeaseIsOver: Disposal = { againInSeconds: leaseMilliseconds / 1_000 };

async function record(
  { operationId, correlator, attempts, caller }: Attemptable,
  lease: string,
  outcome: Outcome,
): Promise<Disposal> {
  const signal = AbortSignal.timeout(recordingMilliseconds);
  log("ATTEMPT", { operationId, correlator, attempts, ...outcome.logged });
  writeMetrics([{ metric: "Attempts" }]);
  if (outcome.end === undefined) {
    const { left, againInSeconds } = outcome;
    const notBefore = new Date(Date.now() + againInSeconds * 1_000);
    const isOurs = await returnJob(operationId, lease, left, notBefore, signal);
    return isOurs ? { againInSeconds } : whenLeaseIsOver;
  }
  if (!(await endJob(operationId, lease, outcome.end, signal))) return whenLeaseIsOver;
  const entry = outcome.end === "abandoned" ? "JOB_ABANDONED" : "JOB_ENDED";
  log(entry, { operationId, correlator, outcome: outcome.end });
  writeMetrics([{ metric: "Deliveries", outcome: outcome.end }]);
  await dismissOperations(caller, [operationId], signal);
  return "done";
}

/** A slot that cannot be given back is free when its time is over: no reason to forget what came of the attempt. */
async function free(slot: Slot): Promise<void> {
  try {
    await giveSlotBack(slot, AbortSignal.timeout(recordingMilliseconds));
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    log("DEPENDENCY_FAILED", { cause: error.message });
  }
}
