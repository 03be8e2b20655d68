import { setting } from "../../shared/environment.ts";
import { preferredType } from "../../shared/http/accept.ts";
import { serveStreamed } from "../../shared/http/serve-streamed.ts";
import { answerTo } from "./answer/answer-to.ts";
import { type Answer, bodyOf } from "./answer/json.ts";
import { retrievePopulationDensity } from "./contract.ts";
import { isLarge } from "./query/bytes.ts";
import { parseDensityRequest } from "./query/parse.ts";
import { workUnitsOf } from "./query/price.ts";
import { supportedSize } from "./query/supported.ts";

/** Returns the densities of an area hour by hour: in the response, or later to a sink. */
export const handler = serveStreamed(retrievePopulationDensity, async (request) => {
  const { body, caller, correlator, now, signal, reply, refuse } = request;
  // What follows is expensive: geometry, and reading tiles.
  await request.quotaChecked;
  const { sink } = body;
  const offered: readonly Format[] = sink === undefined ? mediaTypes : [json];
  const format = preferredType(request.listHeader("accept"), offered);
  const keyed = { client: caller.client, idempotencyKey: request.header("idempotency-key"), now };
  if (sink !== undefined && keyed.idempotencyKey !== undefined && format !== undefined) {
    const { earlierOperation, operationAddress } = await import("./operations/accept-operation.ts");
    const operationId = await earlierOperation(keyed, { ...body, sink }, undefined, signal);
    if (operationId !== undefined)
      return reply(202, { operationId }, { location: operationAddress(request, operationId) });
  }

  const query = parseDensityRequest(body, now);
  if ("code" in query) throw refuse(query.code, query);
  const limits = {
    precisions: setting("DENSITY_PRECISIONS"),
    syncLimit: setting("DENSITY_SYNC_LIMIT"),
    asyncLimit: setting("DENSITY_ASYNC_LIMIT"),
  };
  const size = supportedSize(query, limits, sink !== undefined);
  if ("code" in size) throw refuse(size.code, size);
  if (format === undefined) {
    const message = `Accept must allow ${sink === undefined ? "one of " : ""}${offered.join(", ")}.`;
    throw refuse("NOT_ACCEPTABLE", { message });
  }

  if (sink === undefined) {
    const refund = await request.charge(workUnitsOf(size));
    const onEnd = isLarge(size, format)
      ? await (await import("./callers/large-answers.ts")).beginLargeAnswer(
          retrievePopulationDensity,
          request,
          refund,
        )
      : undefined;
    const [answer, { bodyOf, contentType }] = await Promise.all([answerTo(query, signal), writerOf(format)]);
    request.measure({ metric: "DensitySlots", value: slotsOf(answer) });
    const headers = { "content-type": contentType, vary: "accept", "x-area-status": answer.status };
    return request.stream(200, bodyOf(answer), headers, onEnd);
  }
  const {
    acceptOperation: acceptOrder,
    checkIdempotencyKey,
    operationAddress,
  } = await import("./operations/accept-operation.ts");
  checkIdempotencyKey(keyed.idempotencyKey);
  const refund = await request.charge(workUnitsOf(size));
  const order = { ...keyed, request: { ...body, sink }, correlator };
  const operationId = await acceptOrder(order, refund, signal);
  return reply(202, { operationId }, { location: operationAddress(request, operationId) });
});

const json = "application/json";
const mediaTypes = [json, ...retrievePopulationDensity.formats[200]] as const;
type Format = (typeof mediaTypes)[number];

async function writerOf(format: Format) {
  return format === json
    ? { contentType: json, bodyOf }
    : (await import("./answer/formats.ts")).formats[format];
}

function slotsOf({ tiles, hours }: Answer): number {
  return tiles.reduce((sum, { cells }) => sum + cells.length, 0) * hours.length;
}
