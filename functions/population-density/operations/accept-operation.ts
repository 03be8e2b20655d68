import { log } from "../../../shared/aws/log.ts";
import { setting } from "../../../shared/environment.ts";
import { ApiError, Unavailable } from "../../../shared/errors.ts";
import { idempotencyKey, maxKeyCharacters, type SinkCredential } from "../../../shared/sink-schemas.ts";
import { DENSITY_PENDING_LIMIT } from "../../../shared/variables/density-pending-limit.ts";
import { acceptJob, joinJob } from "../delivery/accept.ts";
import { jobStore } from "../delivery/job-store.ts";
import {
  type NewJobRequest,
  newJob,
  operationIdOf,
  requestHashOf,
  tokenExpiryOf,
  unkeyedRequestHashOf,
} from "../delivery/new-job.ts";
import { isTokenExpired } from "../delivery/rules.ts";
import { send, sharedPorts } from "../delivery/service-ports.ts";

/**
 * The operation of a request that was accepted before, by its `Idempotency-Key`. It is looked for before anything is
 * checked that the time changes, such as the period, so that a repetition is answered as the first request was.
 * @param redelivers the id of the operation whose answer is to be delivered again, if it is.
 * @returns its id; undefined without a key, for a new request, and for one whose key is another request's.
 * @throws {ApiError} `TIMEOUT` when the store does not answer.
 */
export async function earlierOperation(
  { client, idempotencyKey, now }: Pick<NewJobRequest, "client" | "idempotencyKey" | "now">,
  request: Parameters<typeof requestHashOf>[0],
  redelivers: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (idempotencyKey === undefined) return undefined;
  const operationId = operationIdOf(client, idempotencyKey);
  const requestHashes = [
    requestHashOf(request, idempotencyKey, redelivers),
    unkeyedRequestHashOf(request, redelivers),
  ];
  try {
    const repeated = { operationId, requestHashes, requestedAt: now.getTime() };
    return (await joinJob(repeated, jobStore, signal)) ? operationId : undefined;
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    log("DEPENDENCY_FAILED", { operationId, cause: error.message });
    throw isNotKnown();
  }
}

/** @throws {ApiError} `INVALID_ARGUMENT` for an `Idempotency-Key` that is empty or too long. */
export function checkIdempotencyKey(key: string | undefined): void {
  if (!idempotencyKey.safeParse(key).success)
    throw new ApiError("INVALID_ARGUMENT", {
      message: `Idempotency-Key must have 1 to ${maxKeyCharacters} characters.`,
    });
}

/** @throws {ApiError} `INVALID_ARGUMENT` for a token that has expired: its operation would end with nothing sent. */
export function checkToken(credential: SinkCredential | undefined, now: Date): void {
  if (isTokenExpired({ accessTokenExpiresAt: tokenExpiryOf(credential) }, now.getTime()))
    throw new ApiError("INVALID_ARGUMENT", {
      message: "sinkCredential.accessTokenExpiresUtc must be in the future: an expired token is not sent.",
    });
}

/**
 * Accepts the job of a request.
 * @param refund refunds what the request was charged, when nothing more will be delivered for it.
 * @returns its id.
 * @throws {ApiError} when it is not accepted, or when it is unknown whether it is: `INVALID_ARGUMENT`, `TOO_MANY_REQUESTS`, 503 or 504.
 */
export async function acceptOperation(
  request: NewJobRequest,
  refund: () => Promise<void>,
  signal: AbortSignal,
): Promise<string> {
  const job = newJob(request);
  const ports = { ...sharedPorts, jobs: jobStore, queues: { send } };
  const acceptance = await acceptJob(job, setting(DENSITY_PENDING_LIMIT), ports, signal);
  if (acceptance !== "accepted" && acceptance !== "unknown") await refund();
  switch (acceptance) {
    case "accepted":
    case "joined":
      return job.operationId;
    case "conflict":
      throw new ApiError("INVALID_ARGUMENT", {
        message: "The Idempotency-Key was sent with another request. Send a new key, or the same request.",
      });
    case "full":
      throw new ApiError("TOO_MANY_REQUESTS", {
        message: "Too many operations are pending.",
        retryAfterSeconds: 60,
      });
    case "withdrawn":
      throw new ApiError("UNAVAILABLE");
    case "unknown":
      throw isNotKnown();
  }
}

function isNotKnown(): ApiError {
  return new ApiError("TIMEOUT", {
    message:
      "It is not known whether the operation was accepted. Send it again with the same Idempotency-Key.",
  });
}

/**
 * Where an operation can be followed, in the family of paths that the request came by.
 * @param request whose `path` ends in `/retrieve`, or goes on with `/operations`.
 */
export function operationAddress(
  { address = "", path }: { readonly address: string | undefined; readonly path: string },
  operationId: string,
): string {
  return `${address}${path.replace(/\/(?:retrieve|operations\/.*)$/, "")}/operations/${operationId}`;
}
