import { createHash, createHmac } from "node:crypto";
import { instantOf } from "../../../shared/calendar.ts";
import { hashed } from "../../../shared/hash.ts";
import type { SinkCredential } from "../../../shared/sink-schemas.ts";
import { answerTime, type Job, retentionSeconds } from "./job.ts";

/** The requested densities, and the sink for the answer. */
type Request = Job["request"] & {
  readonly sink: string;
  readonly sinkCredential?: SinkCredential | undefined;
};

/** A request for a job, after all checks. */
export interface NewJobRequest {
  readonly request: Request;
  /** For a redelivery, the original job. */
  readonly redelivered?: Pick<Job, "operationId" | "requestedAt" | "asOf">;
  readonly client: string;
  readonly correlator: string;
  /** The caller's key for this request; within a day, it identifies one operation. */
  readonly idempotencyKey: string | undefined;
  readonly now: Date;
}

/** The whole parsed request or, for a redelivery, its sink and credential. */
type ComparedRequest = Request | Pick<Request, "sink" | "sinkCredential">;

/**
 * A hash by which requests with the same idempotency key are compared. It is keyed by that, which is not stored: the
 * sink and its token cannot be guessed by it.
 * @param redelivers the operation whose answer is to be delivered again, if it is.
 */
export function requestHashOf(request: ComparedRequest, idempotencyKey: string, redelivers?: string): string {
  return createHmac("sha256", idempotencyKey).update(comparedText(request, redelivers)).digest("base64url");
}

/** The hash without a key that version 0.2.0 stored: of no use when all of its jobs are forgotten, after a day. */
export function unkeyedRequestHashOf(request: ComparedRequest, redelivers?: string): string {
  return hashed(comparedText(request, redelivers));
}

function comparedText(request: ComparedRequest, redelivers: string | undefined): string {
  const { sink, sinkCredential } = request;
  return JSON.stringify(redelivers === undefined ? request : { sink, sinkCredential, redelivers });
}

/** When the token of a credential ceases to be sent, in epoch milliseconds; undefined without a token or its time. */
export function tokenExpiryOf({
  accessToken,
  accessTokenExpiresUtc,
}: Partial<SinkCredential> = {}): number | undefined {
  if (accessToken === undefined || accessTokenExpiresUtc === undefined) return undefined;
  return instantOf(accessTokenExpiresUtc)?.milliseconds;
}

/** Creates the job of a request. Its id is derived from caller and idempotency key; without a key it is random. */
export function newJob({
  request,
  redelivered,
  client,
  correlator,
  idempotencyKey,
  now,
}: NewJobRequest): Job {
  const { sink, sinkCredential, area, startTime, endTime, precision } = request;
  const { accessToken } = sinkCredential ?? {};
  const accessTokenExpiresAt = tokenExpiryOf(sinkCredential);
  return {
    operationId: idempotencyKey === undefined ? crypto.randomUUID() : operationIdOf(client, idempotencyKey),
    state: "pending",
    caller: hashed(client),
    requestHash:
      idempotencyKey === undefined ? "" : requestHashOf(request, idempotencyKey, redelivered?.operationId),
    request: { area, startTime, endTime, precision },
    requestedAt: now.getTime(),
    ...(redelivered === undefined ? {} : { asOf: answerTime(redelivered).getTime() }),
    listedAt: now.toISOString(),
    correlator,
    sink,
    ...(accessToken === undefined ? {} : { accessToken }),
    ...(accessTokenExpiresAt === undefined ? {} : { accessTokenExpiresAt }),
    intake: crypto.randomUUID(),
    promised: false,
    pendingSince: now.toISOString(),
    attempts: 0,
    mode: "answer",
    possiblyDelivered: false,
    expiresAt: Math.ceil(now.getTime() / 1_000) + retentionSeconds,
  };
}

/**
 * The id of the operation that a caller's idempotency key identifies: a UUID of version 8, whose content RFC 9562
 * leaves to the implementation.
 */
export function operationIdOf(client: string, idempotencyKey: string): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([client, idempotencyKey]))
    .digest("hex");
  const variant = ((Number.parseInt(digest.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    `${variant}${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ].join("-");
}
