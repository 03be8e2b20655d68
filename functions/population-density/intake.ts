import { createHash } from "node:crypto";
import { causeOf, log } from "../../shared/aws/log.ts";
import { sendMessage } from "../../shared/aws/queue.ts";
import { setting } from "../../shared/environment.ts";
import { hashed } from "../../shared/hash.ts";
import type { Retrieval } from "./contract.ts";
import type { Job } from "./job.ts";
import { admitOperation, claimJob, disclaimJob, expiryFrom } from "./jobs.ts";

/** A request for a job, after all checks. */
interface Order {
  readonly request: Retrieval & { readonly sink: string };
  readonly client: string;
  readonly correlator: string;
  /** The caller's name for this request, by which it is known again. */
  readonly idempotencyKey: string | undefined;
  readonly now: Date;
}

/** From the request on: what storing, counting and queueing may take together. */
const acceptingMilliseconds = 3_000;

/** For taking back what was stored. */
const takingBackMilliseconds = 1_800;

/**
 * Accepts a job: stored first, then counted, then queued. When this returns an id, the answer will be delivered; when
 * it throws, nothing will, though the message may be in the queue: its job is gone.
 *
 * A request that a caller sends again with the same idempotency key has the same id and one delivery, and what
 * becomes of the one says nothing of the other.
 * @returns `undefined` when the caller has too many pending operations.
 * @throws {Unavailable} when store or queue do not answer.
 */
export async function acceptJob(order: Order, signal: AbortSignal): Promise<string | undefined> {
  const operationId = operationIdOf(order);
  const claim = crypto.randomUUID();
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(timeLeft(order.now))]);
  const takeBack = () =>
    disclaimJob(operationId, claim, order.now, AbortSignal.timeout(takingBackMilliseconds));
  try {
    const isQueued = !(await claimJob(jobOf(order, operationId), claim, order.now, inTime));
    if (isQueued || (await queue(order, operationId, inTime))) return operationId;
  } catch (error) {
    const isTakenBack = await takeBack().catch((failure: unknown) => {
      log("DEPENDENCY_FAILED", { operationId, cause: causeOf(failure) });
      return true;
    });
    if (isTakenBack) throw error;
    return operationId;
  }
  return (await takeBack()) ? undefined : operationId;
}

/** Accepting ends early enough for all of it to be taken back within the request's own time. */
function timeLeft(requestedAt: Date): number {
  return Math.max(0, requestedAt.getTime() + acceptingMilliseconds - Date.now());
}

/** Returns whether the caller may have one more operation pending; nothing is queued otherwise. */
async function queue({ client, now }: Order, operationId: string, signal: AbortSignal): Promise<boolean> {
  const limit = setting("DENSITY_PENDING_LIMIT");
  if (!(await admitOperation(hashed(client), operationId, limit, now, signal))) return false;
  await sendMessage("density-jobs", { version: 1, operationId }, 0, signal);
  return true;
}

function jobOf({ request, client, correlator, now }: Order, operationId: string): Omit<Job, "claims"> {
  const { sink, sinkCredential, area, startTime, endTime, precision } = request;
  const accessToken = sinkCredential?.accessToken;
  return {
    operationId,
    state: "pending",
    caller: hashed(client),
    request: { area, startTime, endTime, precision },
    requestedAt: now.getTime(),
    correlator,
    sink,
    ...(accessToken === undefined ? {} : { accessToken }),
    attempts: 0,
    mayBeDelivered: false,
    failing: false,
    expiresAt: expiryFrom(now),
  };
}

/** A random id; for a request with an idempotency key the one that belongs to caller, key and content. */
function operationIdOf({ request, client, idempotencyKey }: Order): string {
  if (idempotencyKey === undefined) return crypto.randomUUID();
  const digest = createHash("sha256")
    .update(JSON.stringify([client, idempotencyKey, request]))
    .digest("hex");
  // A UUID of version 8: RFC 9562 leaves its content to whoever makes it.
  const variant = ((Number.parseInt(digest.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    `${variant}${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ].join("-");
}
