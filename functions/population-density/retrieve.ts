import { preferredType } from "../../shared/http/accept.ts";
import type { Reply, Request } from "../../shared/http/request.ts";
import { serveStreamed } from "../../shared/http/serve-streamed.ts";
import { answerTo } from "./answer/answer-to.ts";
import { basisList } from "./answer/basis.ts";
import { type Answer, bodyOf } from "./answer/json.ts";
import { retrievePopulationDensity } from "./contract.ts";
import { type FormatChoices, isLarge } from "./query/bytes.ts";
import { type DensityQuery, parseDensityRequest } from "./query/parse.ts";
import { workUnitsOf } from "./query/price.ts";
import { serviceLimits } from "./query/service-limits.ts";
import type { QuerySize } from "./query/size.ts";
import { supportedSize } from "./query/supported.ts";

/** Returns the densities of an area hour by hour: in the response, or later to a sink. */
export const handler = serveStreamed(retrievePopulationDensity, async (request) => {
  const { body, now, refuse } = request;
  // What follows is expensive: geometry, and reading tiles.
  await request.quotaChecked;
  const { sink } = body;
  const offered: readonly Format[] = sink === undefined ? mediaTypes : [json];
  const format = preferredType(request.listHeader("accept"), offered);
  if (sink !== undefined && format !== undefined) {
    const repeated = await replyToRepetition(request, sink);
    if (repeated !== undefined) return repeated;
  }

  const query = parseDensityRequest(body, now);
  if ("code" in query) throw refuse(query.code, query);
  if (sink !== undefined) (await operations()).checkToken(body.sinkCredential, now);
  const size = supportedSize(query, serviceLimits(), sink !== undefined);
  if ("code" in size) throw refuse(size.code, size);
  if (format === undefined) {
    const message = `Accept must allow ${sink === undefined ? "one of " : ""}${offered.join(", ")}.`;
    throw refuse("NOT_ACCEPTABLE", { message });
  }
  return sink === undefined
    ? await answerAtOnce(request, query, size, format)
    : await deliverToSink(request, sink, size);
});

type DensityRequest = Request<typeof retrievePopulationDensity>;

/** Loaded for requests with a sink alone: an answer at once starts sooner without it. */
const operations = () => import("./operations/accept-operation.ts");

/** Replies with the operation of an earlier request with the same `Idempotency-Key`; undefined if there is none. */
async function replyToRepetition(request: DensityRequest, sink: string): Promise<Reply | undefined> {
  const keyed = idempotencyOf(request);
  if (keyed.idempotencyKey === undefined) return undefined;
  const { earlierOperation } = await operations();
  const operationId = await earlierOperation(keyed, { ...request.body, sink }, undefined, request.signal);
  return operationId === undefined ? undefined : await replyWithOperation(request, operationId);
}

/** Streams the answer in the response, in the format that the caller prefers. */
async function answerAtOnce(
  request: DensityRequest,
  query: DensityQuery,
  size: QuerySize,
  format: Format,
): Promise<Reply> {
  const refund = await request.charge(workUnitsOf(size));
  const onEnd = isLarge(size, format, request.query)
    ? await (await import("./callers/large-answers.ts")).beginLargeAnswer(
        retrievePopulationDensity,
        request,
        refund,
      )
    : undefined;
  const [answer, { bodyOf, contentType }] = await Promise.all([
    answerTo(query, request.signal),
    writerOf(format, request.query),
  ]);
  request.measure({ metric: "DensitySlots", value: slotsOf(answer) });
  // CSV and NDJSON have a row for each cell and hour, and so no place for the status of the whole answer.
  const headers = {
    "content-type": contentType,
    vary: "accept",
    "x-area-status": answer.status,
    "x-density-basis": basisList(answer),
  };
  return request.stream(200, bodyOf(answer), headers, onEnd);
}

/** Accepts an operation that delivers the answer to a sink. */
async function deliverToSink(request: DensityRequest, sink: string, size: QuerySize): Promise<Reply> {
  const { acceptOperation, checkIdempotencyKey } = await operations();
  const { body, correlator, signal } = request;
  const keyed = idempotencyOf(request);
  checkIdempotencyKey(keyed.idempotencyKey);
  const refund = await request.charge(workUnitsOf(size));
  const newJobRequest = { ...keyed, request: { ...body, sink }, correlator };
  return await replyWithOperation(request, await acceptOperation(newJobRequest, refund, signal));
}

async function replyWithOperation(request: DensityRequest, operationId: string): Promise<Reply> {
  const { operationAddress } = await operations();
  return request.reply(202, { operationId }, { location: operationAddress(request, operationId) });
}

/** What makes a request with an `Idempotency-Key` the same as an earlier one, besides its body. */
function idempotencyOf({ caller, header, now }: DensityRequest) {
  return { client: caller.client, idempotencyKey: header("idempotency-key"), now };
}

const json = "application/json";
const mediaTypes = [json, ...retrievePopulationDensity.formats[200]] as const;
type Format = (typeof mediaTypes)[number];

async function writerOf(format: Format, choices: FormatChoices) {
  if (format === json) return { contentType: json, bodyOf };
  const { contentType, writerOf: write } = (await import("./answer/formats.ts")).formats[format];
  return { contentType, bodyOf: write(choices) };
}

function slotsOf({ tiles, hours }: Answer): number {
  return tiles.reduce((sum, { cells }) => sum + cells.length, 0) * hours.length;
}
