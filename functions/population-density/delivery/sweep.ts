import { jobStore } from "./job-store.ts";
import { send, sharedPorts } from "./service-ports.ts";
import { sweep } from "./sweep-jobs.ts";

/** Reserved at the end of the function's time. */
const reserveMilliseconds = 2_000;

/** Runs every minute: see `sweep`. */
export async function handler(
  _event: unknown,
  invocation: { readonly getRemainingTimeInMillis: () => number },
): Promise<void> {
  const milliseconds = Math.max(0, invocation.getRemainingTimeInMillis() - reserveMilliseconds);
  await sweep({ ...sharedPorts, jobs: jobStore, queues: { send } }, AbortSignal.timeout(milliseconds));
}
