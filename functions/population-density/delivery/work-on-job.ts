import { causeOf } from "../../../shared/aws/log.ts";
import type { Count } from "../../../shared/aws/metrics.ts";
import { Unavailable } from "../../../shared/errors.ts";
import type { Verdict } from "../../../shared/sqs/worker.ts";
import type { Job, LastAttempt, PendingJob } from "./job.ts";
import { messageState } from "./message-state.ts";
import { isHeldBackByOwn, limitReached, type Permit } from "./permit-rules.ts";
import { acquirePermit, releasePermit } from "./permits.ts";
import type { Lease, WorkerPorts } from "./ports.ts";
import { reportEnd } from "./report-end.ts";
import {
  type AttemptResult,
  attemptMilliseconds,
  dependsOnHost,
  nextAttempt,
  nextStep,
  type Step,
} from "./rules.ts";
import {
  isNoteDue,
  maxPermitWaitSeconds,
  permitWaitSeconds,
  secondsUntilDue,
  workerWaitMilliseconds,
} from "./waits.ts";

/** A message of a job, as a worker receives it. */
export interface JobMessage {
  readonly operationId: string;
  /** When SQS received it, in epoch milliseconds. */
  readonly sentAt: number;
  /** How often it has been received, including this time. */
  readonly receives: number;
}

/** Longer than a worker may run, so that a worker with an older lease or permit is no longer running. */
const leaseMilliseconds = attemptMilliseconds;

// Time that is reserved after an attempt, even if it has used up all other time.

/** Reserved to record that a sink's host has accepted a delivery. */
export const acceptanceMilliseconds = 1_000;

/** Reserved to record the result. */
export const recordMilliseconds = 4_000;

/** Reserved to release the permit. */
export const releaseMilliseconds = 4_000;

/** Until a release that failed is tried again. */
const releasePauseMilliseconds = 2_000;

/** Thrown when an attempt has lost its lease. */
class LeaseLost extends Error {}

/**
 * How long a worker that has ended a job takes on further ones. The last of them has four fifths of a worker's time.
 */
const followingMilliseconds = 60_000;

/**
 * Works on the job that a message names: makes an attempt if one is due, records its result, and returns the verdict on
 * the message. However often messages are received, there is one attempt at a time, none before it is due, and one
 * outcome. A message is acknowledged only if its job has ended, does not exist, or has another message.
 *
 * After the job has ended, the worker continues, one by one, with jobs that wait for its permit; their own messages
 * then find them ended.
 *
 * @param signal aborts everything but the recording.
 * @throws {Unavailable} if a store does not answer; the attempt may then be repeated.
 */
export async function workOn(message: JobMessage, ports: WorkerPorts, signal: AbortSignal): Promise<Verdict> {
  const { operationId } = message;
  const beganAt = ports.clock.now();
  const job = await ports.jobs.read(operationId, signal);
  if (job === undefined) ports.log("JOB_GONE", { operationId });
  if (job === undefined || job.state !== "pending") return "ack";
  const state = messageState(job, message);
  if (state === "replaced") return "ack";
  // This message remains in use until the sweep has sent another one.
  if (state === "exhausted") await ports.jobs.requestMessage(operationId, signal);
  const result = await workOnJob(job, ports, signal);
  let host = freeHost(result);
  while (host !== undefined && ports.clock.now() - beganAt < followingMilliseconds) {
    const free = host;
    host = await ignoreUnavailable(ports, () => workOnNext(free, ports, signal));
  }
  return result.verdict;
}

/** The result of working on a job. */
interface JobResult {
  /** The verdict on a message of the job. */
  readonly verdict: Verdict;
  /** The host whose permit was released. */
  readonly released?: string;
}

/**
 * The host for which a worker continues with other jobs; undefined if the job has not ended, because its message must
 * first be hidden.
 */
function freeHost({ verdict, released }: JobResult): string | undefined {
  return verdict === "ack" ? released : undefined;
}

/**
 * Works on the oldest job that waits for a host's permit and may have it. A job with a failed attempt is left to its
 * own message, which gives it all of a worker's time.
 * @returns the host for which the worker continues.
 */
async function workOnNext(
  host: string,
  ports: WorkerPorts,
  signal: AbortSignal,
): Promise<string | undefined> {
  const [permits, waiting] = await Promise.all([
    ports.permits.read(signal),
    ports.jobs.waitingFor(host, signal),
  ]);
  const now = ports.clock.now();
  const next = waiting.find(
    ({ caller, mode, attempts }) =>
      attempts === 0 && limitReached(permits, { host, caller, mode }, ports.workers, now) === undefined,
  );
  const job = next && (await ports.jobs.read(next.operationId, signal));
  // The index may miss the most recent writes.
  if (job?.state !== "pending" || job.attempts > 0) return undefined;
  return freeHost(await workOnJob(job, ports, signal));
}

/** Makes an attempt at a pending job if it is due and gets a permit, or ends the job. */
async function workOnJob(found: Job, ports: WorkerPorts, signal: AbortSignal): Promise<JobResult> {
  const now = ports.clock.now();
  const { operationId, notBefore = 0, sink } = found;
  if (notBefore > now) return { verdict: { retryInSeconds: secondsUntilDue(found, notBefore, now) } };
  if (sink === undefined) throw new Error("a pending job without a sink");
  const job = { ...found, sink };

  const leaseId = ports.newId();
  const next = nextAttempt(job, { now, schedule: ports.schedule });
  if ("kind" in next) {
    const isOurs = await begin(job, { id: leaseId, mode: job.mode, now, isAttempt: false }, ports, signal);
    return { verdict: isOurs ? await end(job, leaseId, next, ports) : retryAfterLease };
  }
  const host = ports.sinks.hostOf(sink);
  const { caller, requestedAt } = job;
  const since = job.notBefore ?? requestedAt;
  const permit = { holder: leaseId, host, caller, mode: next.mode, since, until: now + leaseMilliseconds };
  const holdingBack = await acquire(permit, ports, signal);
  if (holdingBack !== undefined) {
    const isNoted = isNoteDue(job, now) && isHeldBackByOwn(holdingBack, permit, ports.workers, now);
    if (job.waitsFor === undefined || isNoted)
      await ports.jobs.markWaiting(operationId, host, isNoted ? now : undefined, signal);
    return { verdict: { retryInSeconds: permitWaitSeconds(since, holdingBack, now, ports.random()) } };
  }
  try {
    return {
      verdict: await attemptJob(job, { leaseId, mode: next.mode, host }, ports, signal),
      released: host,
    };
  } finally {
    await release(permit, ports, signal);
  }
}

/** Acquires a permit as `acquirePermit` does; if it is unknown whether that succeeded, releases the permit. */
async function acquire(
  permit: Permit,
  ports: WorkerPorts,
  signal: AbortSignal,
): Promise<readonly Permit[] | undefined> {
  try {
    return await acquirePermit(permit, ports, signal);
  } catch (error) {
    await release(permit, ports, signal);
    throw error;
  }
}

/** Makes an attempt and records its result. */
async function attemptJob(
  job: PendingJob,
  { leaseId, mode, host }: { readonly leaseId: string; readonly mode: Job["mode"]; readonly host: string },
  ports: WorkerPorts,
  signal: AbortSignal,
): Promise<Verdict> {
  const at = ports.clock.now();
  if (!(await begin(job, { id: leaseId, mode, now: at, isAttempt: true }, ports, signal)))
    return retryAfterLease;
  const number = job.attempts + 1;
  const lastAttempt = { number, at };
  const begun = { ...job, mode, attempts: number, startedAt: job.startedAt ?? at, lastAttempt };
  const result = await attempt(begun, leaseId, host, ports, signal);
  if (result === "lease lost") return retryAfterLease;
  return await record(begun, leaseId, await stepAfter(begun, result, host, ports), result, ports);
}

/** Another worker holds the lease and may soon reschedule the job. */
const retryAfterLease: Verdict = { retryInSeconds: maxPermitWaitSeconds };

function begin(
  job: Job,
  lease: Omit<Lease, "until">,
  { jobs }: WorkerPorts,
  signal: AbortSignal,
): Promise<boolean> {
  return jobs.acquireLease(job, { ...lease, until: lease.now + leaseMilliseconds }, signal);
}

/** Sends the answer or the failure. That an answer cannot be computed is a result, too. */
async function attempt(
  job: PendingJob,
  leaseId: string,
  host: string,
  ports: WorkerPorts,
  signal: AbortSignal,
): Promise<AttemptResult | "lease lost"> {
  const { jobs, sinks } = ports;
  const beforeLastChunk = async () => {
    if (!(await jobs.markPossiblyDelivered(job.operationId, leaseId, signal))) throw new LeaseLost();
  };
  try {
    const result = await sinks.post(job, beforeLastChunk, signal);
    if (result.outcome === "delivered") await recordAcceptance(host, ports);
    return result;
  } catch (error) {
    if (error instanceof LeaseLost) return "lease lost";
    const isTransient =
      error instanceof Unavailable || (error instanceof Error && error.name === "AbortError");
    return { outcome: "not computed", cause: isTransient ? error.message : causeOf(error), isTransient };
  }
}

/** Optional: whether a host has accepted a delivery only decides how often a large body is retried. */
async function recordAcceptance(host: string, ports: WorkerPorts): Promise<void> {
  await ignoreUnavailable(ports, () => ports.permits.recordAcceptance(host, acceptanceDeadline(ports)));
}

/** Assumes that the host has accepted if that cannot be read: an attempt too many does less harm than one too few. */
async function hasAccepted(host: string, ports: WorkerPorts): Promise<boolean> {
  const known = await ignoreUnavailable(ports, () =>
    ports.permits.hasAccepted(host, acceptanceDeadline(ports)),
  );
  return known ?? true;
}

function acceptanceDeadline({ clock }: WorkerPorts): AbortSignal {
  return clock.deadline(acceptanceMilliseconds);
}

/** Result of an optional call; undefined if the dependency is unavailable. */
async function ignoreUnavailable<Value>(
  { log }: WorkerPorts,
  call: () => Promise<Value>,
): Promise<Value | undefined> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    log("DEPENDENCY_FAILED", { cause: error.message });
    return undefined;
  }
}

async function stepAfter(
  job: PendingJob,
  result: AttemptResult,
  host: string,
  ports: WorkerPorts,
): Promise<Step> {
  const hostHasAccepted = !dependsOnHost(job, result) || (await hasAccepted(host, ports));
  const { clock, schedule, random } = ports;
  return nextStep(job, result, hostHasAccepted, { now: clock.now(), schedule, random: random() });
}

/** Records the result of an attempt before the verdict on the message is returned. */
async function record(
  job: PendingJob & { readonly lastAttempt: LastAttempt },
  leaseId: string,
  step: Step,
  result: AttemptResult,
  ports: WorkerPorts,
): Promise<Verdict> {
  const { jobs, clock, log } = ports;
  const { operationId, correlator, attempts } = job;
  const { outcome, status, cause } = { status: undefined, cause: undefined, ...result };
  const details = {
    ...(status === undefined ? {} : { status }),
    ...(cause === undefined ? {} : { cause }),
  };
  log("ATTEMPT", { operationId, correlator, attempts, outcome, ...details }, [
    { metric: "Attempts" },
    ...firstAttempt(job),
  ]);
  const lastAttempt = { ...job.lastAttempt, outcome, status };
  if (step.kind === "finish") return await end(job, leaseId, { ...step, lastAttempt }, ports);
  const { mode, possiblyDelivered, inSeconds } = step;
  const notBefore = clock.now() + inSeconds * 1_000;
  const retry = { mode, possiblyDelivered, notBefore, lastAttempt };
  const isOurs = await jobs.scheduleRetry(operationId, leaseId, retry, clock.deadline(recordMilliseconds));
  return isOurs ? { retryInSeconds: inSeconds } : retryAfterLease;
}

/** Ends a job before the verdict on its message is returned. */
async function end(
  job: PendingJob,
  leaseId: string,
  step: Extract<Step, { kind: "finish" }> & { readonly lastAttempt?: LastAttempt },
  ports: WorkerPorts,
): Promise<Verdict> {
  const { jobs, clock } = ports;
  if (!(await jobs.finish(job, leaseId, step, clock.deadline(recordMilliseconds)))) return retryAfterLease;
  reportEnd(job, step, ports);
  return "ack";
}

/** How long a job waited for a worker; empty for later attempts, and for a job that was held back until then. */
function firstAttempt(job: PendingJob): readonly Count[] {
  const { attempts, startedAt } = job;
  if (attempts > 1 || startedAt === undefined) return [];
  const wait = workerWaitMilliseconds(job, startedAt);
  return wait === undefined ? [] : [{ metric: "FirstAttemptSeconds", value: wait / 1_000 }];
}

/**
 * Releases a permit, once the result of the attempt is recorded. While the store does not answer, nobody else gets a
 * permit either: it is asked until the worker's time is up. Only then the permit is left to its own end, which is near.
 */
async function release(permit: Permit, ports: WorkerPorts, signal: AbortSignal): Promise<void> {
  const { permits, clock } = ports;
  const tryOnce = async () => {
    await releasePermit(permit, permits, clock.deadline(releaseMilliseconds));
    return true;
  };
  while ((await ignoreUnavailable(ports, tryOnce)) === undefined && !signal.aborted) {
    await clock.pause(releasePauseMilliseconds);
  }
}
