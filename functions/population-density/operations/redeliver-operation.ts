import { serve } from "../../../shared/http/serve.ts";
import { answerTime } from "../delivery/job.ts";
import { jobStore } from "../delivery/job-store.ts";
import { parseDensityRequest } from "../query/parse.ts";
import { workUnitsOf } from "../query/price.ts";
import { sizeOf } from "../query/size.ts";
import {
  acceptOperation,
  checkIdempotencyKey,
  checkToken,
  earlierOperation,
  operationAddress,
} from "./accept-operation.ts";
import { redeliverOperation } from "./contract.ts";
import { isVisible } from "./operation.ts";

/** Starts an operation that delivers the answer of an ended one again, to the sink of this request. */
export const handler = serve(redeliverOperation, async (request) => {
  const { parameters, body, caller, correlator, now, signal, reply, refuse } = request;
  await request.quotaChecked;
  const accepted = (operationId: string) =>
    reply(202, { operationId }, { location: operationAddress(request, operationId) });
  const keyed = { client: caller.client, idempotencyKey: request.header("idempotency-key"), now };
  const earlier = await earlierOperation(keyed, body, parameters.operationId, signal);
  if (earlier !== undefined) return accepted(earlier);
  checkToken(body.sinkCredential, now);
  checkIdempotencyKey(keyed.idempotencyKey);
  const job = await jobStore.read(parameters.operationId, signal);
  if (job === undefined || !isVisible(job, caller.client, now)) throw refuse("NOT_FOUND");
  if (job.state === "pending") throw refuse("POPULATION_DENSITY_DATA.OPERATION_PENDING");
  const query = parseDensityRequest(job.request, answerTime(job));
  if ("code" in query) throw new Error(`a job that is refused: ${query.code}`);
  const refund = await request.charge(workUnitsOf(sizeOf(query)));
  const newJobRequest = { ...keyed, request: { ...job.request, ...body }, redelivered: job, correlator };
  return accepted(await acceptOperation(newJobRequest, refund, signal));
});
