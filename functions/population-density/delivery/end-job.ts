import type { Job } from "./job.ts";
import type { JobEnd, Ports } from "./ports.ts";

/**
 * Ends a job with nothing sent, and reports it.
 * @param job as it was read.
 * @returns `false` if it has changed since, or an attempt is under way.
 */
export async function endWithoutAttempt(
  job: Job,
  end: JobEnd,
  {
    jobs,
    clock,
    newId,
    log,
  }: Pick<Ports, "clock" | "newId" | "log"> & {
    readonly jobs: Pick<Ports["jobs"], "endWithoutAttempt">;
  },
  signal: AbortSignal,
): Promise<boolean> {
  if (!(await jobs.endWithoutAttempt(job, newId(), end, clock.now(), signal))) return false;
  reportEnd(job, end, { log });
  return true;
}

/** Logs and counts the outcome of a job. */
export function reportEnd(
  { operationId, correlator }: Pick<Job, "operationId" | "correlator">,
  { outcome, reason }: JobEnd,
  { log }: Pick<Ports, "log">,
): void {
  const entry = outcome === "failed" ? "JOB_FAILED" : "JOB_ENDED";
  log(entry, { operationId, correlator, outcome, reason }, [
    { metric: "Deliveries", outcome },
    // What its caller has stopped says nothing about sinks.
    ...(outcome === "cancelled"
      ? []
      : [{ metric: "FailedDeliveries", value: outcome === "failed" ? 1 : 0 } as const]),
  ]);
  if (reason === "expired") log("JOB_EXPIRED", { operationId, correlator }, [{ metric: "JobsExpired" }]);
}
