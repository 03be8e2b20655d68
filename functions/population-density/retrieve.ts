import { setting } from "../../shared/environment.ts";
import { serveStreamed } from "../../shared/http/serve-streamed.ts";
import { answerTo } from "./answer.ts";
import { retrievePopulationDensity } from "./contract.ts";
import { acceptOrder, idempotencyKeyOf, operationAddress } from "./order.ts";
import { parseQuery, unsupported, workUnitsOf } from "./rules.ts";
import { type Answer, bodyOf } from "./tiles/json.ts";

/** Returns the densities of an area hour by hour: in the response, or later to a sink. */
export const handler = serveStreamed(retrievePopulationDensity, async (sent) => {
  const { body, caller, now, signal, reply, refuse } = sent;
  // What follows is expensive: geometry, and reading tiles.
  await sent.admission;
  const query = parseQuery(body, now);
  if ("code" in query) throw refuse(query.code, query);
  const limits = {
    precisions: setting("DENSITY_PRECISIONS"),
    syncLimit: setting("DENSITY_SYNC_LIMIT"),
    asyncLimit: setting("DENSITY_ASYNC_LIMIT"),
  };
  const { sink } = body;
  const fault = unsupported(query, limits, sink !== undefined);
  if (fault !== undefined) throw refuse(fault.code, fault);

  if (sink === undefined) {
    await sent.charge(workUnitsOf(query));
    const answer = await answerTo(query, signal);
    sent.measure({ metric: "DensitySlots", value: slotsOf(answer) });
    return sent.stream(200, bodyOf(answer));
  }
  const idempotencyKey = idempotencyKeyOf(sent);
  await sent.charge(workUnitsOf(query));
  const order = {
    request: { ...body, sink },
    client: caller.client,
    correlator: sent.correlator,
    idempotencyKey,
    now,
  };
  const operationId = await acceptOrder(order, signal);
  return reply(202, { operationId }, { location: operationAddress(sent, operationId) });
});

function slotsOf({ tiles, hours }: Answer): number {
  return tiles.reduce((sum, { cells }) => sum + cells.length, 0) * hours.length;
}
