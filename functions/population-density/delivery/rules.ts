import {
  deadlineOf,
  type FailedBecause,
  type FailureCause,
  isAboutToExpire,
  type Job,
  type Outcome,
  type PendingJob,
} from "./job.ts";

/** The result of sending; see `post` of `shared/sinks`. */
export interface SendResult {
  readonly outcome: "delivered" | "refused" | "failed";
  /** Status of the sink's response. */
  readonly status?: number;
  /** The code of an error. */
  readonly cause?: string;
  /** From the sink's `Retry-After`: the minimum wait. */
  readonly retryAfterSeconds?: number;
  /** Whether the last chunk was sent. */
  readonly sentWhole: boolean;
  readonly bytes: number;
}

/**
 * The result of an attempt: something was sent, or the answer could not be computed. `isTransient` if a retry may
 * succeed.
 */
export type AttemptResult =
  | SendResult
  | { readonly outcome: "not computed"; readonly cause: string; readonly isTransient: boolean };

/** What a sink is sent. */
export interface Sending {
  readonly mode: Job["mode"];
  /** Given where the answer is given up: why. */
  readonly failureCause?: FailureCause;
}

/** The next step of a job. */
export type Step =
  | { readonly kind: "finish"; readonly outcome: Outcome; readonly reason: string }
  | (Sending & {
      readonly kind: "retry";
      readonly possiblyDelivered: boolean;
      readonly inSeconds: number;
    });

/** What the retry rules need besides the job. */
export interface RetryContext {
  /** Epoch milliseconds. */
  readonly now: number;
  /** Seconds before each further attempt. */
  readonly schedule: readonly number[];
  /** From 0 to 1. */
  readonly random: number;
}

/**
 * The maximum duration of an attempt, including its recording. No attempt begins that could end after the job's
 * deadline.
 */
export const attemptMilliseconds = 330_000;

/** Further attempts to send a failure after the schedule has ended, so that a crash does not prevent it. */
const extraFailureAttempts = 3;
const maxFailureRetrySeconds = 60;

/**
 * Decides what the next attempt at a due job sends, or that the job ends without one. The decision is recorded with the
 * lease before anything is sent.
 */
export function nextAttempt(
  job: PendingJob,
  { now, schedule }: Pick<RetryContext, "now" | "schedule">,
): Sending | Extract<Step, { kind: "finish" }> {
  const maxAttempts = schedule.length + 1;
  if (deadlineOf(job) - now < attemptMilliseconds) return failed("expired");
  if (isTokenExpired(job, now)) return failed("token expired");
  if (job.mode === "failure") {
    return job.attempts < maxFailureAttempts(schedule) ? { mode: "failure" } : failed("attempts exhausted");
  }
  const isExhausted = job.attempts >= maxAttempts;
  if (!isExhausted && !isAboutToExpire(job, now)) return { mode: "answer" };
  if (job.possiblyDelivered) return failed("possibly delivered");
  return { mode: "failure", failureCause: isExhausted ? "attempts exhausted" : "time over" };
}

/** Whether a token is no longer sent. @param now epoch milliseconds */
export function isTokenExpired(
  { accessTokenExpiresAt = Number.POSITIVE_INFINITY }: Pick<Job, "accessTokenExpiresAt">,
  now: number,
): boolean {
  return accessTokenExpiresAt <= now;
}

/** Total number of attempts after which a failure is no longer sent. */
function maxFailureAttempts(schedule: readonly number[]): number {
  return schedule.length + 1 + extraFailureAttempts;
}

function failed(reason: FailedBecause): Extract<Step, { kind: "finish" }> {
  return { kind: "finish", outcome: "failed", reason };
}

/** Statuses that mean that the server did not accept the body. */
const rejectedStatuses = new Set([408, 413, 429]);

/** Whether a sink may hold the whole body after an attempt to send it. */
export function isPossiblyDelivered({
  sentWhole,
  status,
}: Pick<SendResult, "sentWhole" | "status">): boolean {
  return sentWhole && !(status !== undefined && rejectedStatuses.has(status));
}

/** The size of a large body, and how often one is sent to a host that has never answered 2xx. */
const largeBytes = 1_048_576;
const maxLargeAttempts = 3;

/** Whether the next step depends on whether the host has ever answered with 2xx. */
export function dependsOnHost(job: Pick<Job, "attempts" | "mode">, result: AttemptResult): boolean {
  const isLarge = result.outcome === "failed" && result.bytes > largeBytes;
  return isLarge && job.mode === "answer" && job.attempts >= maxLargeAttempts;
}

/**
 * Decides the next step of a job after an attempt (docs/deliveries.md).
 *
 * @param job as of its lease: with this attempt counted, and `possiblyDelivered` as before the attempt.
 * @param hostHasAccepted whether the sink's host has ever answered with 2xx; see `dependsOnHost`.
 */
export function nextStep(
  job: PendingJob,
  result: AttemptResult,
  hostHasAccepted: boolean,
  context: RetryContext,
): Step {
  if (result.outcome === "delivered") {
    return job.mode === "answer"
      ? { kind: "finish", outcome: "delivered", reason: "delivered" }
      : failed("failure sent");
  }
  if (result.outcome === "refused") {
    return job.mode === "answer"
      ? { kind: "finish", outcome: "refused", reason: reasonOf(result) }
      : failed("failure refused");
  }
  const isSent = result.outcome === "failed" && isPossiblyDelivered(result);
  const possiblyDelivered = job.possiblyDelivered || isSent;
  const isPermanentFailure = result.outcome === "not computed" && !result.isTransient;
  const tooLargeToRetry = dependsOnHost(job, result) && !hostHasAccepted;
  const asked = result.outcome === "failed" ? result.retryAfterSeconds : undefined;
  const inSeconds =
    isPermanentFailure || tooLargeToRetry ? undefined : retryDelay(job.attempts, asked, job.mode, context);
  const { now } = context;
  if (inSeconds !== undefined) {
    const at = now + inSeconds * 1_000;
    if (isTokenExpired(job, at)) return failed("token expired");
    const isInTime =
      job.mode === "answer" ? !isAboutToExpire(job, at) : deadlineOf(job) - at >= attemptMilliseconds;
    if (isInTime) return { kind: "retry", mode: job.mode, possiblyDelivered, inSeconds };
  }
  if (job.mode === "failure") return failed("failure not sent");
  if (possiblyDelivered) return failed("possibly delivered");
  // A failure also respects the sink's `Retry-After`, if enough time is left to send it.
  const pause = (asked ?? 0) * (1 + 0.2 * context.random);
  const canWait = deadlineOf(job) - (now + pause * 1_000) >= attemptMilliseconds;
  const failureCause = inSeconds === undefined ? "attempts exhausted" : "time over";
  return {
    kind: "retry",
    mode: "failure",
    failureCause: result.outcome === "not computed" ? "not computed" : failureCause,
    possiblyDelivered: false,
    inSeconds: canWait ? pause : 0,
  };
}

function reasonOf({ status, cause }: SendResult): string {
  return status === undefined ? `refused: ${cause}` : `refused: ${status}`;
}

/**
 * Seconds before the next attempt: the longer of the sink's `Retry-After` and the schedule's wait. Jitter adds up to 20
 * % to `Retry-After`, and up to ±20 % to the schedule.
 *
 * @param attempts how many have begun; the first wait follows the first attempt.
 * @returns undefined if no attempts are left.
 */
export function retryDelay(
  attempts: number,
  askedSeconds: number | undefined,
  mode: Job["mode"],
  { schedule, random }: Pick<RetryContext, "schedule" | "random">,
): number | undefined {
  const isExtra = mode === "failure" && attempts < maxFailureAttempts(schedule);
  const extra = Math.min(maxFailureRetrySeconds, schedule.at(-1) ?? maxFailureRetrySeconds);
  const scheduled = schedule[attempts - 1] ?? (isExtra ? extra : undefined);
  if (scheduled === undefined) return undefined;
  return Math.max((askedSeconds ?? 0) * (1 + 0.2 * random), scheduled * (0.8 + 0.4 * random));
}
