import { serve } from "../../../shared/http/serve.ts";
import { cancelJob } from "../delivery/cancel.ts";
import { jobStore } from "../delivery/job-store.ts";
import { sharedPorts } from "../delivery/service-ports.ts";
import { cancelOperation } from "./contract.ts";
import { isVisible, operationOf } from "./operation.ts";

/** Ends a pending operation for its caller. */
export const handler = serve(cancelOperation, async (request) => {
  const { parameters, caller, now, signal, reply, refuse } = request;
  await request.quotaChecked;
  const found = await jobStore.read(parameters.operationId, signal);
  if (found === undefined || !isVisible(found, caller.client, now)) throw refuse("NOT_FOUND");
  const job = await cancelJob(found, { ...sharedPorts, jobs: jobStore }, signal);
  if (job === undefined) throw refuse("NOT_FOUND");
  if (job.state !== "cancelled") throw refuse("POPULATION_DENSITY_DATA.OPERATION_ENDED");
  return reply(200, operationOf(job));
});
