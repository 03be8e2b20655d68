import { jobStore } from "./delivery/job-store.ts";
import { processPorts, send } from "./delivery/service-ports.ts";
import { sweep } from "./delivery/sweep.ts";

/** Reserved at the end of the function's time. */
const reserveMilliseconds = 2_000;

/** Runs every minute: see `sweep`. */
export async function handler(
  _event: unknown,
  invocation: { readonly getRemainingTimeInMillis: () => number },
): Promise<void> {
  const milliseconds = Math.max(0, invocation.getRemainingTimeInMillis() - reserveMilliseconds);
  await sweep({ ...processPorts, jobs: jobStore, queues: { send } }, AbortSignal.timeout(milliseconds));
}
