import { type Job, retentionSeconds } from "../../functions/population-density/delivery/job.ts";
import { hashed } from "../../shared/hash.ts";

/** A job as it is stored for a request of a new caller. */
export function someJob(sink: string, request: Job["request"], changes: Partial<Job> = {}): Job {
  const { requestedAt = Date.now() } = changes;
  return {
    operationId: crypto.randomUUID(),
    state: "pending",
    caller: hashed(crypto.randomUUID()),
    requestHash: hashed(crypto.randomUUID()),
    request,
    requestedAt,
    correlator: `correlator-${crypto.randomUUID()}`,
    sink,
    intake: crypto.randomUUID(),
    promised: false,
    ...((changes.state ?? "pending") === "pending"
      ? { pendingSince: new Date(requestedAt).toISOString() }
      : {}),
    attempts: 0,
    mode: "answer",
    possiblyDelivered: false,
    expiresAt: Math.ceil(requestedAt / 1_000) + retentionSeconds,
    ...changes,
  };
}
