import { hashed } from "../../../shared/hash.ts";
import { answerTime, deadlineOf, failureReasonOf, type Job } from "../delivery/job.ts";
import { parseDensityRequest } from "../query/parse.ts";
import { sizeOf } from "../query/size.ts";
import { failureReasons, type Operation } from "./contract.ts";

/** Whether a caller may see a job: it is the caller's, was accepted, and its day has not ended. */
export function isVisible(job: Job, client: string, now: Date): boolean {
  return job.caller === hashed(client) && job.state !== "withdrawn" && now.getTime() < deadlineOf(job);
}

const outcomes = {
  delivered: "DELIVERED",
  refused: "REFUSED",
  failed: "FAILED",
  "not computed": "NOT_COMPUTED",
} as const;

/** A visible job as its caller sees it: nothing of its area, its sink and its credential. */
export function operationOf(job: Job): Operation {
  const { operationId, requestedAt, lastAttempt, notBefore } = job;
  if (job.state === "withdrawn") throw new Error("a withdrawn job is no operation");
  const query = parseDensityRequest(job.request, answerTime(job));
  if ("code" in query) throw new Error(`a job that is refused: ${query.code}`);
  const reason = failureReasonOf(job);
  const isDue = job.state === "pending" && lastAttempt?.outcome !== undefined && notBefore !== undefined;
  return {
    operationId,
    state: job.state.toUpperCase() as Uppercase<typeof job.state>,
    requestedAt: isoTime(requestedAt),
    expiresAt: isoTime(deadlineOf(job)),
    cells: sizeOf(query).cells,
    intervals: query.asked.length,
    attempts: lastAttempt?.number ?? 0,
    ...(lastAttempt === undefined ? {} : { lastAttempt: attemptOf(lastAttempt) }),
    ...(isDue ? { nextAttemptAt: isoTime(notBefore) } : {}),
    possiblyDelivered: isPossiblyDelivered(job),
    ...(reason === undefined ? {} : { failureReason: failureReasons[reason] }),
  };
}

function attemptOf({ at, outcome, status }: NonNullable<Job["lastAttempt"]>): Operation["lastAttempt"] {
  return {
    at: isoTime(at),
    ...(outcome === undefined ? {} : { outcome: outcomes[outcome] }),
    ...(status === undefined ? {} : { httpStatus: status }),
  };
}

/** False once the sink has acknowledged or refused. */
function isPossiblyDelivered({ state, mode, possiblyDelivered }: Job): boolean {
  const isOpen = state === "pending" || state === "cancelled" || (state === "failed" && mode === "answer");
  return isOpen && possiblyDelivered;
}

function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
