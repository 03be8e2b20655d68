import { preferredType } from "../../shared/http/accept.ts";
import { serveStreamed } from "../../shared/http/serve-streamed.ts";
import { answerTo } from "./answer/answer-to.ts";
import { basisList } from "./answer/basis.ts";
import { summarizePopulationDensity } from "./contract.ts";
import { parseDensityRequest } from "./query/parse.ts";
import { workUnitsOf } from "./query/price.ts";
import { serviceLimits } from "./query/service-limits.ts";
import { supportedSize } from "./query/supported.ts";
import { summaryOf } from "./summary/summary.ts";
import { summaryFormats } from "./summary/summary-formats.ts";

const mediaTypes = ["application/json", ...summarizePopulationDensity.formats[200]] as const;

/** Returns the totals of an area, hour by hour. */
export const handler = serveStreamed(summarizePopulationDensity, async (request) => {
  const { body, now, refuse } = request;
  // What follows is expensive: geometry, and reading tiles.
  await request.quotaChecked;
  const query = parseDensityRequest(body, now);
  if ("code" in query) throw refuse(query.code, query);
  const size = supportedSize(query, serviceLimits(), false);
  if ("code" in size) throw refuse(size.code, size);
  const format = preferredType(request.listHeader("accept"), mediaTypes);
  if (format === undefined) {
    throw refuse("NOT_ACCEPTABLE", { message: `Accept must allow one of ${mediaTypes.join(", ")}.` });
  }
  await request.charge(workUnitsOf(size));
  const answer = await answerTo(query, request.signal);
  const { contentType, textOf } = summaryFormats[format];
  const headers = {
    "content-type": contentType,
    vary: "accept",
    "x-area-status": answer.status,
    "x-density-basis": basisList(answer),
  };
  return request.stream(200, inOneChunk(textOf(await summaryOf(answer))), headers);
});

/** A body that is small enough to be one chunk. */
async function* inOneChunk(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
