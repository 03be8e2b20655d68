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
 * A job as the table holds it. It is `pending` until its outcome is certain: `delivered`, `refused` by the sink, or
 * `abandoned`. Sink and credential are erased then.
 */
export const job = z.object({
  operationId: z.string(),
  state: z.enum(["pending", "delivered", "refused", "abandoned"]),
  /** Hash of the caller. */
  caller: z.string(),
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
  /** Attempts that have begun. */
  attempts: z.number(),
  /** Requests that were promised the answer, or still may be: without one the job is taken back. */
  claims: z.set(z.string()),
  /** Who makes an attempt, or made the last one. */
  lease: z.optional(z.string()),
  /** Before this nobody else begins one, in epoch milliseconds: it is under way, or the next is not due yet. */
  leasedUntil: z.optional(z.number()),
  /** Whether the sink may hold the whole answer: then it is never told that there is none. */
  mayBeDelivered: z.boolean(),
  /** Whether the job is given up and the sink only to be told so. */
  failing: z.boolean(),
  /** Epoch second. */
  expiresAt: z.number(),
});

/** What is known of a job. */
export type Job = z.output<typeof job>;

/** A job as it is written to the table. */
export function itemOf({ request: asked, ...members }: Job): z.input<typeof job> {
  return { ...members, request: JSON.stringify(asked) };
}

/** How a job can end. */
export type End = Exclude<Job["state"], "pending">;

/** What a sink is told of a job that is given up. */
export const failureInfo = "The densities could not be computed. Send the request again.";

/**
 * Seconds before a job is tried again, whole ones as the queue counts them, or undefined when it was tried often
 * enough.
 *
 * @param attempts that have begun; the first wait follows the first of them.
 * @param asked what the sink wants; it goes before the schedule, but gives no further attempt.
 * @param random from 0 to 1: the wait is up to a fifth shorter or longer.
 */
export function waitAfter(
  attempts: number,
  schedule: readonly number[],
  asked: number | undefined,
  random: number,
): number | undefined {
  const scheduled = schedule[attempts - 1];
  if (scheduled === undefined) return undefined;
  return asked ?? Math.round(scheduled * (0.8 + 0.4 * random));
}

/** A job that will be forgotten so soon is given up while there is still time to tell its sink. */
const lateSeconds = 3_600;

/** Whether a job has waited so long that it is about to expire. */
export function isLate({ expiresAt }: Pick<Job, "expiresAt">, now: Date): boolean {
  return expiresAt - now.getTime() / 1_000 < lateSeconds;
}
