import { gunzipSync } from "node:zlib";
import type { APIGatewayProxyResult } from "aws-lambda";
import { log } from "../aws/log.ts";
import { ApiError } from "../errors.ts";
import type { Website } from "../website.ts";
import { correlationOf, correlatorHeader } from "./correlator.ts";
import type { Invocation } from "./deadline.ts";
import { acceptsGzip } from "./encoded-body.ts";
import { type IncomingRequest, incomingRequest } from "./event.ts";
import { errorResponse, headOf, type Reply, withEcho } from "./response.ts";

/** A page, or a file that it loads. */
export interface WebFile {
  readonly headers: Readonly<Record<string, string>>;
  /** Text, or, in a buffer, gzip-compressed UTF-8 text. */
  readonly text: string | Buffer;
}

let cold = true;

/** Creates the Lambda handler of a website. If `find` returns undefined, the response is 404. */
export function serveWebsite(
  { operationId }: Website,
  find: (incoming: IncomingRequest) => WebFile | undefined,
): (event: unknown, invocation: Invocation) => Promise<APIGatewayProxyResult> {
  return async (event, { awsRequestId }) => {
    const started = performance.now();
    const incoming = incomingRequest(event);
    const { value: correlator } = correlationOf(incoming.header(correlatorHeader));
    const logged = {
      operation: operationId,
      correlator,
      ...(awsRequestId === undefined ? {} : { awsRequestId }),
    };
    const reply = fileReply(incoming, find, logged);
    const { status, code, body, isBase64Encoded } = reply;
    const milliseconds = Math.round(performance.now() - started);
    log("REQUEST", { ...logged, status, milliseconds, coldStart: cold, ...(code ? { code } : {}) }, [
      { metric: "Requests", operation: operationId },
      { metric: "RequestMilliseconds", value: milliseconds },
      ...(code === undefined ? [] : [{ metric: "Errors", code } as const]),
    ]);
    cold = false;
    // Pages of other origins have no use for these files, so there are no headers for them.
    const sent = withEcho(reply, { correlator, requestId: incoming.requestId });
    return { ...headOf(sent), body, isBase64Encoded };
  };
}

/** A reply with its whole body. */
type FileReply = Reply & { readonly body: string; readonly isBase64Encoded: boolean };

function fileReply(
  incoming: IncomingRequest,
  find: (incoming: IncomingRequest) => WebFile | undefined,
  logged: Parameters<typeof errorResponse>[1],
): FileReply {
  try {
    const file = find(incoming);
    if (file === undefined) throw new ApiError("NOT_FOUND");
    return { status: 200, ...encoded(file, incoming.listHeader("accept-encoding")) };
  } catch (error) {
    const refusal = errorResponse(error, logged);
    return { ...refusal, body: String(refusal.body), isBase64Encoded: false };
  }
}

/** Uncompressed text is short, or for callers that do not accept gzip; API Gateway compresses it if it can. */
function encoded({ headers, text }: WebFile, acceptEncoding: string | undefined) {
  const varied = { ...headers, vary: "accept-encoding" };
  if (typeof text === "string") return { headers: varied, body: text, isBase64Encoded: false };
  if (!acceptsGzip(acceptEncoding)) {
    return { headers: varied, body: gunzipSync(text).toString("utf8"), isBase64Encoded: false };
  }
  return {
    headers: { ...varied, "content-encoding": "gzip" },
    body: text.toString("base64"),
    isBase64Encoded: true,
  };
}
