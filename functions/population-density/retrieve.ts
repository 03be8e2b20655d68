import { setting } from "../../shared/environment.ts";
import { ApiError } from "../../shared/errors.ts";
import { serveStreamed } from "../../shared/http/serve-streamed.ts";
import { answerTo } from "./answer.ts";
import { retrievePopulationDensity } from "./contract.ts";
import { acceptJob } from "./delivery/accept.ts";
import { jobStore } from "./delivery/job-store.ts";
import { newJob } from "./delivery/new-job.ts";
import { processPorts, send } from "./delivery/service-ports.ts";
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
  const idempotencyKey = sent.header("idempotency-key");
  if (!isIdempotencyKey(idempotencyKey))
    throw refuse("INVALID_ARGUMENT", {
      message: `Idempotency-Key must have 1 to ${maxKeyCharacters} characters.`,
    });
  await sent.charge(workUnitsOf(query));
  const job = newJob({
    request: { ...body, sink },
    client: caller.client,
    correlator: sent.correlator,
    idempotencyKey,
    now,
  });
  const ports = { ...processPorts, jobs: jobStore, queues: { send } };
  const acceptance = await acceptJob(job, setting("DENSITY_PENDING_LIMIT"), ports, signal);
  switch (acceptance) {
    case "accepted":
      return reply(202, { operationId: job.operationId });
    case "conflict":
      throw refuse("INVALID_ARGUMENT", {
        message: "The Idempotency-Key was sent with another request. Send a new key, or the same request.",
      });
    case "full":
      throw refuse("TOO_MANY_REQUESTS", {
        message: "Too many operations are pending.",
        retryAfterSeconds: 60,
      });
    case "withdrawn":
      throw new ApiError("UNAVAILABLE");
    case "unknown":
      throw new ApiError("TIMEOUT", {
        message:
          "It is not known whether the operation was accepted. Send it again with the same Idempotency-Key.",
      });
  }
});

function slotsOf({ tiles, hours }: Answer): number {
  return tiles.reduce((sum, { cells }) => sum + cells.length, 0) * hours.length;
}

const maxKeyCharacters = 255;

/** Whether the header is absent or has 1 to 255 characters. */
function isIdempotencyKey(header: string | undefined): boolean {
  return header === undefined || (header.length > 0 && header.length <= maxKeyCharacters);
}
