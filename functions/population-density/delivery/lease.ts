import { causeOf } from "../../../shared/aws/log.ts";
import type { Count } from "../../../shared/aws/metrics.ts";
import { Unavailable } from "../../../shared/errors.ts";
import type { Verdict } from "../../../shared/sqs/worker.ts";
import type { Job, LastAttempt, Outcome, PendingJob } from "./job.ts";
import type { PermitRequest } from "./permit-rules.ts";
import { acquireOrWait, releasePermit } from "./permits.ts";
import type { Lease, Ports, WorkerPorts } from "./ports.ts";
import {
  type AttemptResult,
  attemptMilliseconds,
  dependsOnHost,
  nextAttempt,
  nextStep,
  permitWaitSeconds,
  type Step,
} from "./rules.ts";

/** A message of a job, as a worker has it. */
export interface JobMessage {
  readonly operationId: string;
  /** The queue it was received from. With the receipt handle, it can be hidden or made visible. */
  readonly queue: string;
  readonly receiptHandle: string;
  /** How often it was received, this time included. */
  readonly receives: number;
  /** Whether it is a dead letter: then the answer is not tried again. */
  readonly dead: boolean;
}

/** Longer than a worker may run: a worker whose lease or permit is older no longer runs. */
const leaseMilliseconds = attemptMilliseconds;

// Time is reserved after an attempt, even when the attempt has used up all other time.

/** Reserved to note that a sink's host agreed. */
export const agreementMilliseconds = 1_000;

/** Reserved to record the result. */
export const recordMilliseconds = 4_000;

/** Reserved to release the permit. */
export const releaseMilliseconds = 4_000;

/** Added to the time for which a message is hidden, because clocks differ. */
const skewSeconds = 1;

/** Thrown when an attempt has lost its lease. */
class LeaseLost extends Error {}

/**
 * Works on the job that a message names: makes an attempt if one is due, records its result, and returns the verdict on
 * the message. However often messages are received, there is one attempt at a time, none before it is due, and one
 * outcome. A message is acknowledged only when its job has ended or does not exist.
 *
 * @param signal aborts everything but the recording.
 * @throws {Unavailable} when a store does not answer; the attempt may then be repeated.
 */
export async function workOn(message: JobMessage, ports: WorkerPorts, signal: AbortSignal): Promise<Verdict> {
  const { operationId } = message;
  const found = await ports.jobs.read(operationId, signal);
  if (found === undefined) ports.log("JOB_GONE", { operationId });
  if (found === undefined || found.state !== "pending") return "ack";
  const now = ports.clock.now();
  const { notBefore = 0, sink } = found;
  if (notBefore > now) return { retryInSeconds: (notBefore - now) / 1_000 + skewSeconds };
  if (sink === undefined) throw new Error("a pending job without a sink");
  const job = { ...found, sink };

  const lease = ports.newId();
  const next = nextAttempt(job, { now, schedule: ports.schedule }, message.dead);
  if ("kind" in next) {
    if (!(await begin(job, { id: lease, mode: job.mode, now, isAttempt: false }, ports, signal)))
      return whenLeaseIsOver;
    return await end(job, lease, next, ports);
  }
  const request: PermitRequest = {
    operationId,
    holder: lease,
    host: ports.sinks.hostOf(sink),
    caller: job.caller,
    mode: next.mode,
  };
  const wait = await waitForPermit(request, job, message, ports, signal);
  if (wait !== undefined) return wait;
  try {
    const at = ports.clock.now();
    if (!(await begin(job, { id: lease, mode: next.mode, now: at, isAttempt: true }, ports, signal)))
      return whenLeaseIsOver;
    const number = job.attempts + 1;
    const lastAttempt = { number, at };
    const startedAt = job.startedAt ?? at;
    const begun = { ...job, mode: next.mode, attempts: number, startedAt, lastAttempt };
    const result = await attempt(begun, lease, request.host, ports, signal);
    if (result === "lease lost") return whenLeaseIsOver;
    return await record(begun, lease, await stepAfter(begun, result, request.host, ports), result, ports);
  } finally {
    await release(request, ports);
  }
}

/** Another worker has the lease. */
const whenLeaseIsOver: Verdict = { retryInSeconds: leaseMilliseconds / 1_000 };

function begin(
  job: Job,
  lease: Omit<Lease, "until">,
  { jobs }: WorkerPorts,
  signal: AbortSignal,
): Promise<boolean> {
  return jobs.lease(job, { ...lease, until: lease.now + leaseMilliseconds }, signal);
}

/** Acquires a permit, or returns for how long the message is hidden. */
async function waitForPermit(
  request: PermitRequest,
  job: Job,
  { queue, receiptHandle, receives }: JobMessage,
  ports: WorkerPorts,
  signal: AbortSignal,
): Promise<Verdict | undefined> {
  const since = job.notBefore ?? job.requestedAt;
  const until = ports.clock.now() + leaseMilliseconds;
  const message = { since, queue, receiptHandle, isNew: receives === 1 };
  if (await acquireOrWait(request, until, message, ports, signal)) return undefined;
  return { retryInSeconds: permitWaitSeconds(job, since, ports.clock.now(), ports.random()) };
}

/** Sends the answer or the failure. An answer that cannot be computed is a result too. */
async function attempt(
  job: PendingJob,
  lease: string,
  host: string,
  ports: WorkerPorts,
  signal: AbortSignal,
): Promise<AttemptResult | "lease lost"> {
  const { jobs, sinks } = ports;
  const beforeLastChunk = async () => {
    if (!(await jobs.markPossiblyDelivered(job.operationId, lease, signal))) throw new LeaseLost();
  };
  try {
    const sent = await sinks.post(job, beforeLastChunk, signal);
    if (sent.outcome === "delivered") await noteAgreement(host, ports);
    return sent;
  } catch (error) {
    if (error instanceof LeaseLost) return "lease lost";
    const isPassing = error instanceof Unavailable || (error instanceof Error && error.name === "AbortError");
    return { outcome: "not computed", cause: isPassing ? error.message : causeOf(error), isPassing };
  }
}

/** Whether a host agreed decides how often a large body is sent: to forget it once does no harm. */
async function noteAgreement(host: string, ports: WorkerPorts): Promise<void> {
  await unlessUnavailable(ports, () => ports.permits.noteAgreement(host, agreementDeadline(ports)));
}

/** Whether a host agreed. When that cannot be read it may have: an attempt too many does less harm than one too few. */
async function hasAgreed(host: string, ports: WorkerPorts): Promise<boolean> {
  const known = await unlessUnavailable(ports, () => ports.permits.hasAgreed(host, agreementDeadline(ports)));
  return known ?? true;
}

function agreementDeadline({ clock }: WorkerPorts): AbortSignal {
  return clock.deadline(agreementMilliseconds);
}

/** What a call that the job does not depend on comes to; undefined when nobody answers. */
async function unlessUnavailable<Value>(
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
  const hostHasAgreed = !dependsOnHost(job, result) || (await hasAgreed(host, ports));
  const { clock, schedule, random } = ports;
  return nextStep(job, result, hostHasAgreed, { now: clock.now(), schedule, random: random() });
}

/** Records the result of an attempt before the verdict on the message is returned. */
async function record(
  job: PendingJob & { readonly lastAttempt: LastAttempt },
  lease: string,
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
  if (step.kind === "finish") return await end(job, lease, { ...step, lastAttempt }, ports);
  const { mode, possiblyDelivered, inSeconds } = step;
  const notBefore = clock.now() + inSeconds * 1_000;
  const retry = { mode, possiblyDelivered, notBefore, lastAttempt };
  const isOurs = await jobs.scheduleRetry(operationId, lease, retry, clock.deadline(recordMilliseconds));
  return isOurs ? { retryInSeconds: inSeconds } : whenLeaseIsOver;
}

/** Ends a job before the verdict on its message is returned. */
async function end(
  job: PendingJob,
  lease: string,
  step: Extract<Step, { kind: "finish" }> & { readonly lastAttempt?: LastAttempt },
  ports: WorkerPorts,
): Promise<Verdict> {
  const { jobs, clock } = ports;
  if (!(await jobs.finish(job, lease, step, clock.deadline(recordMilliseconds)))) return whenLeaseIsOver;
  reportEnd(job, step, ports);
  return "ack";
}

/** How long a job waited for its first attempt, measured at that attempt alone. */
function firstAttempt({ attempts, requestedAt, startedAt }: PendingJob): readonly Count[] {
  if (attempts > 1 || startedAt === undefined) return [];
  return [{ metric: "FirstAttemptSeconds", value: (startedAt - requestedAt) / 1_000 }];
}

/** Logs and counts the outcome of a job. */
export function reportEnd(
  { operationId, correlator }: Pick<Job, "operationId" | "correlator">,
  { outcome, reason }: { readonly outcome: Outcome; readonly reason: string },
  { log }: Pick<Ports, "log">,
): void {
  const entry = outcome === "failed" ? "JOB_FAILED" : "JOB_ENDED";
  log(entry, { operationId, correlator, outcome, reason }, [{ metric: "Deliveries", outcome }]);
  if (reason === "expired") log("JOB_EXPIRED", { operationId, correlator });
}

/** Releases a permit. If that fails, the permit expires by itself, and the result of the attempt is kept. */
async function release(request: PermitRequest, ports: WorkerPorts): Promise<void> {
  await unlessUnavailable(ports, () =>
    releasePermit(request, ports, ports.clock.deadline(releaseMilliseconds)),
  );
}
