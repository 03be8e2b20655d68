import { currentDataSet } from "../tiles/data-set-store.ts";
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
  const newestObservedDay = async (signal: AbortSignal) => (await currentDataSet(signal))?.newestDay;
  const ports = { ...sharedPorts, jobs: jobStore, queues: { send }, newestObservedDay };
  await sweep(ports, AbortSignal.timeout(milliseconds));
}
