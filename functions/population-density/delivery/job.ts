import * as z from "zod/mini";
import { dayMilliseconds } from "../../../shared/calendar.ts";

/** A message of the queue: the id of a job, and nothing else. */
export const jobMessage = z.object({ version: z.literal(1), operationId: z.string() });

const request = z.object({
  area: z.object({
    areaType: z.string(),
    boundary: z.array(z.object({ latitude: z.number(), longitude: z.number() })),
  }),
  startTime: z.string(),
  endTime: z.string(),
  precision: z.number(),
});

/** The latest attempt at a job. It has no result while it is in progress, or if its worker crashed. */
const lastAttempt = z.object({
  /** Its number, counted from 1. */
  number: z.number(),
  /** When it began, in epoch milliseconds. */
  at: z.number(),
  outcome: z.optional(z.enum(["delivered", "refused", "failed", "not computed"])),
  /** The status of the sink's response, if there was one. */
  status: z.optional(z.number()),
});

/** The latest attempt at a job. */
export type LastAttempt = z.output<typeof lastAttempt>;

const failureCause = z.enum(["not computed", "attempts exhausted", "time over"]);

/** Why a sink gets a failure instead of the answer. */
export type FailureCause = z.output<typeof failureCause>;

/**
 * A job as stored: `pending` until it has its outcome, which is `delivered`, `refused` by the sink, `failed`, or
 * `cancelled` by its caller. Sink and token are then erased. `withdrawn` is a tombstone for a job that may have been
 * stored although its request was answered with 503: it makes a late write of that request fail.
 */
export const job = z.object({
  operationId: z.string(),
  state: z.enum(["pending", "delivered", "refused", "failed", "cancelled", "withdrawn"]),
  /** The reason for the state, for operators: callers are told `failureReasonOf`. */
  reason: z.optional(z.string()),
  /** Hash of the caller. */
  caller: z.string(),
  /** Keyed hash of the whole request, which tells it from another one with the same idempotency key; empty without one. */
  requestHash: z.string(),
  /** The validated request as JSON, because DynamoDB's numbers cannot be as close to 0 as coordinates. */
  request: z.pipe(
    z.pipe(
      z.string(),
      z.transform((text: string): unknown => JSON.parse(text)),
    ),
    request,
  ),
  /** Epoch milliseconds; the answer is computed as of this time, unless `asOf` is given. */
  requestedAt: z.number(),
  /** For a redelivery, the time as of which the original answer was computed, in epoch milliseconds. */
  asOf: z.optional(z.number()),
  /** When it was requested, ISO 8601; absent if withdrawn. The sort key of the index of a caller's jobs. */
  listedAt: z.optional(z.string()),
  correlator: z.string(),
  sink: z.optional(z.string()),
  accessToken: z.optional(z.string()),
  /** Epoch milliseconds, from which the token is no longer sent. */
  accessTokenExpiresAt: z.optional(z.number()),
  /** The id of the request that stored the job. */
  intake: z.string(),
  /** Whether another request was answered with this job, so that the request that stored it cannot withdraw it. */
  promised: z.boolean(),
  /** Ids of the requests that withdrew a job under this operation id. */
  withdrawnIntakes: z.optional(z.set(z.string())),
  /** When the job became pending, ISO 8601; absent afterwards. The sort key of the index of pending jobs. */
  pendingSince: z.optional(z.string()),
  /**
   * When the latest message confirmed by SQS was sent, in epoch milliseconds; absent if none was confirmed or another
   * one is needed.
   */
  queuedAt: z.optional(z.number()),
  /** When the first attempt began. */
  startedAt: z.optional(z.number()),
  /** Attempts that have begun. */
  attempts: z.number(),
  lastAttempt: z.optional(lastAttempt),
  /** The id of the current or last lease. */
  lease: z.optional(z.string()),
  /** No attempt begins before this time, in epoch milliseconds: one is in progress, or the next is not due. */
  notBefore: z.optional(z.number()),
  /** Hash of the sink's host and port, while the job waits for a permit. */
  waitsFor: z.optional(z.string()),
  /**
   * When other uploads of its caller or to its host were last recorded to hold back its first attempt, in epoch
   * milliseconds; see `workerWaitMilliseconds`.
   */
  heldBackAt: z.optional(z.number()),
  /** Whether to send the answer or a failure to the sink. */
  mode: z.enum(["answer", "failure"]),
  /** Why `mode` is `failure`; absent of jobs of which an earlier release, which does not know it, decided that. */
  failureCause: z.optional(failureCause),
  /**
   * Whether the sink may hold the whole body of the current mode. A sink that may hold the answer is never sent a
   * failure.
   */
  possiblyDelivered: z.boolean(),
  /** Epoch second after which DynamoDB may delete the item. */
  expiresAt: z.number(),
});

/** A job. */
export type Job = z.output<typeof job>;

/** A pending job: its sink is not erased. */
export type PendingJob = Job & { readonly sink: string };

/**
 * The partitions of the index of pending jobs, by the last digit of their ids. A job is written there four times, so that
 * one partition takes 250 jobs a second.
 */
export const pendingShards = ["0", "1", "2", "3"];

/** The item of a job. */
export function itemOf({ request: asked, ...members }: Job): StoredJob {
  const { operationId, pendingSince } = members;
  const shard = Number.parseInt(operationId.slice(-1), 16) % pendingShards.length;
  return {
    ...members,
    ...(pendingSince === undefined ? {} : { pendingShard: String(shard) }),
    request: JSON.stringify(asked),
  };
}

/** A job as it is stored. Only pending ones have a shard. */
type StoredJob = z.input<typeof job> & { readonly pendingShard?: string };

/** The outcome of a job. */
export type Outcome = "delivered" | "refused" | "failed" | "cancelled";

/** The `reason` of a cancelled job. */
export const cancelledByCaller = "cancelled by its caller";

/** The `statusInfo` of a failure. */
export function failureInfo({ failureCause = "not computed" }: Pick<Job, "failureCause">): string {
  const sentences: Readonly<Record<FailureCause, string>> = {
    "not computed": "The densities could not be computed. Send the request again.",
    "attempts exhausted": "All attempts to deliver the densities failed. Send the request again.",
    "time over": "The densities could not be delivered within a day. Send the request again.",
  };
  return sentences[failureCause];
}

/** What ended a job without its sink having acknowledged or refused the answer, as operators are told. */
export type FailedBecause =
  | "expired"
  | "token expired"
  | "attempts exhausted"
  | "possibly delivered"
  | "failure sent"
  | "failure refused"
  | "failure not sent";

/** All that a caller is told of why a job failed: nothing of addresses, names and errors. */
export const failureReasons = [...failureCause.options, "token expired", "possibly delivered"] as const;

/** Why the sink of a failed job did not get the answer; undefined for jobs that failed before causes were stored. */
export function failureReasonOf(
  job: Pick<Job, "state" | "reason" | "failureCause">,
): (typeof failureReasons)[number] | undefined {
  if (job.state !== "failed") return undefined;
  const because = job.reason === "expired" ? "time over" : job.reason;
  return job.failureCause ?? failureReasons.find((reason) => reason === because);
}

/** How long the item of a job is kept: a day, plus an hour for the sweep to expire it. */
export const retentionSeconds = 90_000;

/** The latest time of a job's outcome, in epoch milliseconds. */
export function deadlineOf({ requestedAt }: Pick<Job, "requestedAt">): number {
  return requestedAt + dayMilliseconds;
}

/** The time as of which the answer of a job is computed. */
export function answerTime({ requestedAt, asOf = requestedAt }: Pick<Job, "requestedAt" | "asOf">): Date {
  return new Date(asOf);
}

/** The time, in epoch milliseconds, before which requested jobs are forgotten. */
export function keptSince(now: number): number {
  return now - dayMilliseconds;
}

/** Whether a new job may have the id of this one: it has ended, and its day is over. */
export function isForgotten(
  { state, requestedAt }: Pick<Job, "state" | "requestedAt">,
  now: number,
): boolean {
  return state !== "pending" && requestedAt + dayMilliseconds <= now;
}

/** The longest time between the reservation of a place and the write of its job, however late that write arrives. */
const reservationMilliseconds = 60_000;

/**
 * Whether a place can be released: its job has ended, or was not stored in time because its request was cut off. A
 * withdrawn job counts as not stored: another request with its idempotency key may be about to store it.
 * @param reservedAt in epoch milliseconds.
 */
export function isPlaceFree(job: Pick<Job, "state"> | undefined, reservedAt: number, now: number): boolean {
  const isStored = job !== undefined && job.state !== "withdrawn";
  return isStored ? job.state !== "pending" : reservedAt + reservationMilliseconds < now;
}

/** The time before the deadline that is reserved for sending a failure. */
const failureReserveMilliseconds = 3_600_000;

/** Whether a job is so close to its deadline that a failure is sent instead of the answer. */
export function isAboutToExpire(of: Pick<Job, "requestedAt">, now: number): boolean {
  return deadlineOf(of) - now <= failureReserveMilliseconds;
}
