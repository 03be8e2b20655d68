import { serve } from "../../../shared/http/serve.ts";
import { jobStore } from "../delivery/job-store.ts";
import { readOperation } from "./contract.ts";
import { isVisible, operationOf } from "./operation.ts";

/** Returns what has become of an operation. */
export const handler = serve(readOperation, async ({ parameters, caller, now, signal, reply, refuse }) => {
  const job = await jobStore.read(parameters.operationId, signal);
  if (job === undefined || !isVisible(job, caller.client, now)) throw refuse("NOT_FOUND");
  return reply(200, operationOf(job));
});
