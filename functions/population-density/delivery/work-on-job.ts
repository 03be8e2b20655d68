import type { Verdict } from "../../../shared/sqs/worker.ts";
import { Attempt, leaseMilliseconds, retryAfterLease } from "./attempt.ts";
import { endWithoutAttempt } from "./end-job.ts";
import { ignoreUnavailable } from "./ignore-unavailable.ts";
import type { Job, PendingJob } from "./job.ts";
import { messageState } from "./message-state.ts";
import { isHeldBackByOwn, limitReached, type Permit } from "./permit-rules.ts";
import { acquirePermit, freePermit } from "./permits.ts";
import type { WorkerPorts } from "./ports.ts";
import { nextAttempt } from "./rules.ts";
import { isHeldBackRecordDue, permitWaitSeconds, secondsUntilDue } from "./waits.ts";

/** A message of a job, as a worker receives it. */
export interface JobMessage {
  readonly operationId: string;
  /** When SQS received it, in epoch milliseconds. */
  readonly sentAt: number;
  /** How often it has been received, including this time. */
  readonly receives: number;
}

/** Reserved to release the permit, even if the attempt has used up all other time. */
export const freeMilliseconds = 4_000;

/** Until a release that failed is tried again. */
const releasePauseMilliseconds = 2_000;

/** How long a worker that has ended a job may begin further jobs; even the last has ⅘ of the time-out. */
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
export function workOn(message: JobMessage, ports: WorkerPorts, signal: AbortSignal): Promise<Verdict> {
  return new Worker(ports, signal).workOn(message);
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
function nextHost({ verdict, released }: JobResult): string | undefined {
  return verdict === "ack" ? released : undefined;
}

/** A worker while it has one message. */
class Worker {
  readonly #ports: WorkerPorts;
  readonly #signal: AbortSignal;

  constructor(ports: WorkerPorts, signal: AbortSignal) {
    this.#ports = ports;
    this.#signal = signal;
  }

  async workOn(message: JobMessage): Promise<Verdict> {
    const { jobs, clock, log } = this.#ports;
    const { operationId } = message;
    const beganAt = clock.now();
    const job = await jobs.read(operationId, this.#signal);
    if (job === undefined) log("JOB_GONE", { operationId });
    if (job === undefined || job.state !== "pending") return "ack";
    const state = messageState(job, message);
    if (state === "replaced") return "ack";
    // This message remains in use until the sweep has sent another one.
    if (state === "exhausted") await jobs.requestMessage(operationId, this.#signal);
    const result = await this.#workOnJob(job);
    let host = nextHost(result);
    while (host !== undefined && clock.now() - beganAt < followingMilliseconds) {
      const free = host;
      host = await ignoreUnavailable(log, () => this.#workOnNext(free));
    }
    return result.verdict;
  }

  /**
   * Works on the oldest job that waits for a host's permit and may have it. A job with a failed attempt is left to its
   * own message, which gives it all of a worker's time.
   * @returns the host for which the worker continues.
   */
  async #workOnNext(host: string): Promise<string | undefined> {
    const { jobs, permits, clock, workers } = this.#ports;
    const [held, waiting] = await Promise.all([
      permits.read(this.#signal),
      jobs.waitingFor(host, this.#signal),
    ]);
    const now = clock.now();
    const next = waiting.find(
      ({ caller, mode, attempts }) =>
        attempts === 0 && limitReached(held, { host, caller, mode }, workers, now) === undefined,
    );
    const job = next && (await jobs.read(next.operationId, this.#signal));
    // The index may miss the most recent writes.
    if (job?.state !== "pending" || job.attempts > 0) return undefined;
    return nextHost(await this.#workOnJob(job));
  }

  /** Makes an attempt at a pending job if it is due and gets a permit, or ends the job. */
  async #workOnJob(found: Job): Promise<JobResult> {
    const { clock, schedule, sinks } = this.#ports;
    const now = clock.now();
    const { notBefore = 0, sink } = found;
    if (notBefore > now) return { verdict: { retryInSeconds: secondsUntilDue(found, notBefore, now) } };
    if (sink === undefined) throw new Error("a pending job without a sink");
    const job = { ...found, sink };

    const next = nextAttempt(job, { now, schedule });
    if ("kind" in next) {
      const isOurs = await endWithoutAttempt(job, next, this.#ports, this.#signal);
      return { verdict: isOurs ? "ack" : retryAfterLease };
    }
    const attempt = new Attempt(job, this.#ports, this.#signal);
    const host = sinks.hostOf(sink);
    const { caller, requestedAt } = job;
    const since = job.notBefore ?? requestedAt;
    const until = now + leaseMilliseconds;
    const permit = { holder: attempt.leaseId, host, caller, mode: next.mode, since, until };
    const holdingBack = await this.#acquire(permit);
    if (holdingBack !== undefined) return { verdict: await this.#wait(job, permit, holdingBack, now) };
    try {
      return { verdict: await attempt.send(next, host), released: host };
    } finally {
      await this.#release(permit);
    }
  }

  /** Lets a job wait for permits that hold it back. */
  async #wait(
    job: PendingJob,
    permit: Permit,
    holdingBack: readonly Permit[],
    now: number,
  ): Promise<Verdict> {
    const { jobs, workers, random } = this.#ports;
    const isRecorded = isHeldBackRecordDue(job, now) && isHeldBackByOwn(holdingBack, permit, workers, now);
    if (job.waitsFor === undefined || isRecorded) {
      const heldBackAt = isRecorded ? now : undefined;
      await jobs.markWaiting(job.operationId, permit.host, heldBackAt, this.#signal);
    }
    return { retryInSeconds: permitWaitSeconds(permit.since, holdingBack, now, random()) };
  }

  /** Acquires a permit as `acquirePermit` does; if it is unknown whether that succeeded, releases the permit. */
  async #acquire(permit: Permit): Promise<readonly Permit[] | undefined> {
    try {
      return await acquirePermit(permit, this.#ports, this.#signal);
    } catch (error) {
      await this.#release(permit);
      throw error;
    }
  }

  /**
   * Releases a permit, once the result of the attempt is recorded. While the store does not answer, no other job gets a
   * permit either: it is asked until the worker's time is up. After that the permit soon expires.
   */
  async #release(permit: Permit): Promise<void> {
    const { permits, clock, log } = this.#ports;
    const tryOnce = async () => {
      await freePermit(permit, permits, clock.deadline(freeMilliseconds));
      return true;
    };
    while ((await ignoreUnavailable(log, tryOnce)) === undefined && !this.#signal.aborted) {
      await clock.pause(releasePauseMilliseconds);
    }
  }
}
