import { cancelledByCaller, type Job } from "./job.ts";
import type { Ports } from "./ports.ts";
import { reportEnd } from "./report-end.ts";

type CancelPorts = Pick<Ports, "log"> & { readonly jobs: Pick<Ports["jobs"], "cancel" | "read"> };

/**
 * Cancels a job, whoever works on it: an attempt under way loses its lease, so that it does not send its last chunk.
 * When the last chunk may have been sent before, the job says `possiblyDelivered`.
 * @param found as it was read.
 * @returns the job as it is then: cancelled, or ended before; undefined when it is gone.
 */
export async function cancelJob(
  found: Job,
  { jobs, log }: CancelPorts,
  signal: AbortSignal,
): Promise<Job | undefined> {
  if (found.state !== "pending") return found;
  if (await jobs.cancel(found, signal))
    reportEnd(found, { outcome: "cancelled", reason: cancelledByCaller }, { log });
  return await jobs.read(found.operationId, signal);
}
