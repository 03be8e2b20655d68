import type { Job, Outcome } from "./job.ts";
import type { Ports } from "./ports.ts";

/** Logs and counts the outcome of a job. */
export function reportEnd(
  { operationId, correlator }: Pick<Job, "operationId" | "correlator">,
  { outcome, reason }: { readonly outcome: Outcome; readonly reason: string },
  { log }: Pick<Ports, "log">,
): void {
  const entry = outcome === "failed" ? "JOB_FAILED" : "JOB_ENDED";
  log(entry, { operationId, correlator, outcome, reason }, [{ metric: "Deliveries", outcome }]);
  if (reason === "expired") log("JOB_EXPIRED", { operationId, correlator });
}
