import { causeOf } from "../../../shared/aws/log.ts";
import type { Count } from "../../../shared/aws/metrics.ts";
import { Unavailable } from "../../../shared/errors.ts";
import type { Verdict } from "../../../shared/sqs/worker.ts";
import { reportEnd } from "./end-job.ts";
import { ignoreUnavailable } from "./ignore-unavailable.ts";
import type { LastAttempt, PendingJob } from "./job.ts";
import type { WorkerPorts } from "./ports.ts";
import {
  type AttemptResult,
  attemptMilliseconds,
  dependsOnHost,
  nextStep,
  type Sending,
  type Step,
} from "./rules.ts";
import { maxPermitWaitSeconds, workerWaitMilliseconds } from "./waits.ts";

/** Longer than a worker may run, so that a worker with an older lease or permit is no longer running. */
export const leaseMilliseconds = attemptMilliseconds;

// Time that is reserved after an attempt, even if it has used up all other time.

/** Reserved to record that a sink's host has accepted a delivery. */
export const acceptanceMilliseconds = 1_000;

/** Reserved to record the result. */
export const recordMilliseconds = 4_000;

/** Thrown when an attempt has lost its lease. */
class LeaseLost extends Error {}

/** Another worker holds the lease and may soon reschedule the job. */
export const retryAfterLease: Verdict = { retryInSeconds: maxPermitWaitSeconds };

/**
 * An attempt at a pending job, under a lease of its own: from the first call on, other attempts have lost the job; a
 * call that finds the lease lost changes nothing.
 */
export class Attempt {
  readonly #job: PendingJob;
  /** Also the holder of its permit. */
  readonly leaseId: string;
  readonly #ports: WorkerPorts;
  readonly #signal: AbortSignal;

  /** @param signal aborts everything but the recording. */
  constructor(job: PendingJob, ports: WorkerPorts, signal: AbortSignal) {
    this.#job = job;
    this.leaseId = ports.newId();
    this.#ports = ports;
    this.#signal = signal;
  }

  /** Sends the answer or the failure to the sink's host, and records the result. */
  async send(sending: Sending, host: string): Promise<Verdict> {
    const at = this.#ports.clock.now();
    const lease = { ...sending, id: this.leaseId, now: at, until: at + leaseMilliseconds };
    if (!(await this.#ports.jobs.acquireLease(this.#job, lease, this.#signal))) return retryAfterLease;
    const number = this.#job.attempts + 1;
    const lastAttempt = { number, at };
    const begun = {
      ...this.#job,
      ...sending,
      attempts: number,
      startedAt: this.#job.startedAt ?? at,
      lastAttempt,
    };
    const result = await this.#post(begun, host);
    if (result === "lease lost") return retryAfterLease;
    return await this.#record(begun, await this.#stepAfter(begun, result, host), result);
  }

  /** That an answer cannot be computed is a result, too. */
  async #post(job: PendingJob, host: string): Promise<AttemptResult | "lease lost"> {
    const { jobs, sinks } = this.#ports;
    const beforeLastChunk = async () => {
      const isOurs = await jobs.markPossiblyDelivered(job.operationId, this.leaseId, this.#signal);
      if (!isOurs) throw new LeaseLost();
    };
    try {
      const result = await sinks.post(job, beforeLastChunk, this.#signal);
      if (result.outcome === "delivered") await this.#recordAcceptance(host);
      return result;
    } catch (error) {
      if (error instanceof LeaseLost) return "lease lost";
      const isTransient =
        error instanceof Unavailable || (error instanceof Error && error.name === "AbortError");
      return { outcome: "not computed", cause: isTransient ? error.message : causeOf(error), isTransient };
    }
  }

  async #stepAfter(job: PendingJob, result: AttemptResult, host: string): Promise<Step> {
    const hostHasAccepted = !dependsOnHost(job, result) || (await this.#hasAccepted(host));
    const { clock, schedule, random } = this.#ports;
    return nextStep(job, result, hostHasAccepted, { now: clock.now(), schedule, random: random() });
  }

  /** Optional: whether a host has accepted a delivery only decides how often a large body is retried. */
  async #recordAcceptance(host: string): Promise<void> {
    const { permits, clock, log } = this.#ports;
    await ignoreUnavailable(log, () =>
      permits.recordAcceptance(host, clock.deadline(acceptanceMilliseconds)),
    );
  }

  /** Assumes that the host has accepted if that cannot be read: an attempt too many does less harm than one too few. */
  async #hasAccepted(host: string): Promise<boolean> {
    const { permits, clock, log } = this.#ports;
    const known = await ignoreUnavailable(log, () =>
      permits.hasAccepted(host, clock.deadline(acceptanceMilliseconds)),
    );
    return known ?? true;
  }

  /** Records the result before the verdict on the message is returned. */
  async #record(
    job: PendingJob & { readonly lastAttempt: LastAttempt },
    step: Step,
    result: AttemptResult,
  ): Promise<Verdict> {
    const { jobs, clock, log } = this.#ports;
    const { operationId, correlator, attempts } = job;
    const { outcome, status, cause } = { status: undefined, cause: undefined, ...result };
    const details = {
      ...(status === undefined ? {} : { status }),
      ...(cause === undefined ? {} : { cause }),
    };
    log("ATTEMPT", { operationId, correlator, attempts, outcome, ...details }, [
      { metric: "Attempts" },
      ...(outcome === "not computed" ? [{ metric: "JobsNotComputed" } as const] : []),
      ...firstAttempt(job),
    ]);
    const lastAttempt = { ...job.lastAttempt, outcome, status };
    const deadline = clock.deadline(recordMilliseconds);
    if (step.kind === "finish") {
      const { kind: _, ...end } = step;
      if (!(await jobs.finish(job, this.leaseId, { ...end, lastAttempt }, deadline))) return retryAfterLease;
      reportEnd(job, end, this.#ports);
      return "ack";
    }
    const { kind: _, inSeconds, ...next } = step;
    const retry = { ...next, notBefore: clock.now() + inSeconds * 1_000, lastAttempt };
    const isOurs = await jobs.scheduleRetry(operationId, this.leaseId, retry, deadline);
    return isOurs ? { retryInSeconds: inSeconds } : retryAfterLease;
  }
}

/** How long a job waited for a worker; empty for later attempts, and for a job that was held back until then. */
function firstAttempt(job: PendingJob): readonly Count[] {
  const { attempts, startedAt } = job;
  if (attempts > 1 || startedAt === undefined) return [];
  const wait = workerWaitMilliseconds(job, startedAt);
  return wait === undefined ? [] : [{ metric: "FirstAttemptSeconds", value: wait / 1_000 }];
}
