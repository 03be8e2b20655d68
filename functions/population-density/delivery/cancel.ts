import { reportEnd } from "./end-job.ts";
import { cancelledByCaller, type Job } from "./job.ts";
import type { Ports } from "./ports.ts";

type CancelPorts = Pick<Ports, "log"> & { readonly jobs: Pick<Ports["jobs"], "cancel" | "read"> };

/**
 * Cancels a job even if a worker has its lease: an attempt in progress then loses the lease and does not send its last
 * chunk. If it may already have sent the last chunk, the job is `possiblyDelivered`.
 * @param found as it was read.
 * @returns the job as it is afterwards: cancelled, or ended before; undefined if it no longer exists.
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
