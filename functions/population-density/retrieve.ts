import type { ApiError } from "../../shared/errors.ts";
import { preferredType } from "../../shared/http/accept.ts";
import type { Request } from "../../shared/http/request.ts";
import type { Reply } from "../../shared/http/response.ts";
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
  // What follows is expensive: geometry, and reading tiles.
  await request.quotaChecked;
  const { sink } = request.body;
  return sink === undefined ? await answerAtOnce(request) : await deliverToSink(request, sink);
});

type DensityRequest = Request<typeof retrievePopulationDensity>;

/** Streams the answer in the response, in the format that the caller prefers. */
async function answerAtOnce(request: DensityRequest): Promise<Reply> {
  const query = queryOf(request);
  const size = sizeOf(request, query);
  const format = preferredType(request.listHeader("accept"), mediaTypes);
  if (format === undefined) throw notAcceptable(request, `one of ${mediaTypes.join(", ")}`);
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

/** Accepts an operation that delivers the answer to a sink, unless an earlier request with the same key has. */
async function deliverToSink(request: DensityRequest, sink: string): Promise<Reply> {
  // Loaded here alone: an answer at once starts sooner without it.
  const operations = await import("./operations/accept-operation.ts");
  const { caller, correlator, header, now, signal } = request;
  const body = { ...request.body, sink };
  const accepted = (operationId: string) =>
    request.reply(202, { operationId }, { location: operations.operationAddress(request, operationId) });
  const keyed = { client: caller.client, idempotencyKey: header("idempotency-key"), now };
  const isAcceptable = preferredType(request.listHeader("accept"), [json]) !== undefined;
  if (isAcceptable) {
    const earlier = await operations.earlierOperation(keyed, body, undefined, signal);
    if (earlier !== undefined) return accepted(earlier);
  }
  const query = queryOf(request);
  operations.checkToken(body.sinkCredential, now);
  const size = sizeOf(request, query);
  if (!isAcceptable) throw notAcceptable(request, json);
  operations.checkIdempotencyKey(keyed.idempotencyKey);
  const refund = await request.charge(workUnitsOf(size));
  return accepted(await operations.acceptOperation({ ...keyed, request: body, correlator }, refund, signal));
}

/** @throws {ApiError} if the area or the period is refused. */
function queryOf({ body, now, refuse }: DensityRequest): DensityQuery {
  const query = parseDensityRequest(body, now);
  if ("code" in query) throw refuse(query.code, query);
  return query;
}

/** @throws {ApiError} if it is larger than an answer of its kind may be. */
function sizeOf({ body, refuse }: DensityRequest, query: DensityQuery): QuerySize {
  const size = supportedSize(query, serviceLimits(), body.sink !== undefined);
  if ("code" in size) throw refuse(size.code, size);
  return size;
}

function notAcceptable({ refuse }: DensityRequest, acceptable: string): ApiError {
  return refuse("NOT_ACCEPTABLE", { message: `Accept must allow ${acceptable}.` });
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
