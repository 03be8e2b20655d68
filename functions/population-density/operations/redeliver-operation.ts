import { serve } from "../../../shared/http/serve.ts";
import { answerTime } from "../delivery/job.ts";
import { jobStore } from "../delivery/job-store.ts";
import { parseQuery, workUnitsOf } from "../query/rules.ts";
import { redeliverOperation } from "./contract.ts";
import { isVisible } from "./operation.ts";
import { acceptOrder, idempotencyKeyOf, operationAddress } from "./order.ts";

/** Starts an operation that delivers the answer of an ended one again, to the sink of this request. */
export const handler = serve(redeliverOperation, async (sent) => {
  const { parameters, body, caller, correlator, now, signal, reply, refuse } = sent;
  await sent.quotaChecked;
  const idempotencyKey = idempotencyKeyOf(sent);
  const job = await jobStore.read(parameters.operationId, signal);
  if (job === undefined || !isVisible(job, caller.client, now)) throw refuse("NOT_FOUND");
  if (job.state === "pending") throw refuse("POPULATION_DENSITY_DATA.OPERATION_PENDING");
  const query = parseQuery(job.request, answerTime(job));
  if ("code" in query) throw new Error(`a job that is refused: ${query.code}`);
  const refund = await sent.charge(workUnitsOf(query));
  const request = { ...job.request, ...body };
  const order = { request, redelivered: job, client: caller.client, correlator, idempotencyKey, now };
  const operationId = await acceptOrder(order, refund, signal);
  return reply(202, { operationId }, { location: operationAddress(sent, operationId) });
});
