import * as z from "zod/mini";

/** What a message of the queue says: which job, and nothing else. */
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

/**
 * A job as the table holds it: `pending` until it has its one outcome, `delivered`, `refused` by the sink, or `failed`.
 * Sink and token are erased then. `withdrawn` marks a job that its request gave up storing: it keeps a late write of
 * that request out.
 */
export const job = z.object({
  operationId: z.string(),
  state: z.enum(["pending", "delivered", "refused", "failed", "withdrawn"]),
  /** Why the state is what it is, for operators. */
  reason: z.optional(z.string()),
  /** Hash of the caller. */
  caller: z.string(),
  /** Hash of the whole request: the same idempotency key with another request is another hash. */
  requestHash: z.string(),
  /** The request, as it passed the checks; JSON, as DynamoDB has no number as near to 0 as a coordinate may be. */
  request: z.pipe(
    z.pipe(
      z.string(),
      z.transform((text: string): unknown => JSON.parse(text)),
    ),
    request,
  ),
  /** Epoch milliseconds; the answer is the one of this moment. */
  requestedAt: z.number(),
  correlator: z.string(),
  sink: z.optional(z.string()),
  accessToken: z.optional(z.string()),
  /** From this epoch millisecond on the sink is not called with the token. */
  accessTokenExpiresAt: z.optional(z.number()),
  /** The request that stored the job. */
  intake: z.string(),
  /** Whether a further request was promised the job too: then the one that stored it cannot withdraw it. */
  promised: z.boolean(),
  /** Requests that gave up storing a job under this id. */
  withdrawnIntakes: z.optional(z.set(z.string())),
  /** Since when the job is pending, ISO 8601; absent when it is not. The sort key of the index of pending jobs. */
  pendingSince: z.optional(z.string()),
  /** When a message of the job was sent for certain, in epoch milliseconds. */
  queuedAt: z.optional(z.number()),
  /** When the first attempt began. */
  startedAt: z.optional(z.number()),
  /** Attempts that have begun. */
  attempts: z.number(),
  /** Who makes an attempt, or made the last one. */
  lease: z.optional(z.string()),
  /** Before this nobody begins an attempt, in epoch milliseconds: one is under way, or the next is not due yet. */
  notBefore: z.optional(z.number()),
  /** Whether the sink is to get the answer, or to be told that there is none. */
  mode: z.enum(["answer", "failure"]),
  /** Whether the sink may hold the whole answer: then it is never told that there is none. */
  possiblyDelivered: z.boolean(),
  /** Epoch second after which DynamoDB may delete the item. */
  expiresAt: z.number(),
});

/** What is known of a job. */
export type Job = z.output<typeof job>;

/** A job that is still to be delivered: its sink is not erased yet. */
export type PendingJob = Job & { readonly sink: string };

/** A job as it is written to the table. */
export function itemOf({ request: asked, ...members }: Job): z.input<typeof job> {
  return { ...members, request: JSON.stringify(asked) };
}

/** The outcome of a job. */
export type Outcome = "delivered" | "refused" | "failed";

/** What a sink is told of a job that failed. */
export const failureInfo = "The densities could not be computed. Send the request again.";

const dayMilliseconds = 86_400_000;

/** How long a job's item is kept, and what belongs to it: an hour beyond its last day, for the sweep to see it. */
export const retentionSeconds = 90_000;

/** When a job that was asked for at a moment has its outcome at the latest, in epoch milliseconds. */
export function deadlineOf({ requestedAt }: Pick<Job, "requestedAt">): number {
  return requestedAt + dayMilliseconds;
}

/** Whether the id of a job may be given to a new one: its day is over, and so is the job. */
export function isForgotten(
  { state, requestedAt }: Pick<Job, "state" | "requestedAt">,
  now: number,
): boolean {
  return state !== "pending" && requestedAt + dayMilliseconds <= now;
}

/** The time before the deadline that is kept for telling the sink that there is no answer. */
const failureReserveMilliseconds = 3_600_000;

/** Whether so little of a job's day is left that its sink is to be told that there is no answer. */
export function isAboutToExpire(of: Pick<Job, "requestedAt">, now: number): boolean {
  return deadlineOf(of) - now <= failureReserveMilliseconds;
}
