import type { APIGatewayProxyResult } from "aws-lambda";
import { causeOf, log } from "../aws/log.ts";
import type { Endpoint } from "../endpoint.ts";
import { type Allowance, ApiError, type Code, type ErrorDetails, errorRow, Unavailable } from "../errors.ts";
import { collectedBody } from "./collected-body.ts";
import { correlatorHeader, requestIdHeader } from "./correlator.ts";
import { DeadlinePassed } from "./deadline.ts";
import type { Reply } from "./request.ts";

/** A response without the headers that every response has. */
export interface HttpResponse {
  readonly status: number;
  /** Of an error. */
  readonly code?: Code;
  readonly headers?: Readonly<Record<string, string>>;
  readonly content: { readonly body: string; readonly isBase64Encoded?: boolean };
}

/**
 * Makes the response of a reply, and writes its body through the schema of its status.
 * @throws {ApiError} the reply's `tooLarge` when a written body is too large for Lambda.
 */
export async function replyResponse(
  endpoint: Endpoint,
  { status, body, written }: Reply,
  acceptEncoding: string | undefined,
): Promise<HttpResponse> {
  const schema = endpoint.responses[status];
  if (schema === undefined) throw new Error(`status ${status} is not declared`);
  const headers = endpoint.headers ?? {};
  if (written === undefined)
    return { status, headers, content: { body: JSON.stringify(schema.parse(body)) } };
  const collected = await collectedBody(written.chunks, acceptEncoding);
  if (collected === undefined) throw written.tooLarge;
  return { status, headers: { ...headers, ...collected.headers }, content: collected.content };
}

/**
 * The one place that turns a thrown value into a response. The cause is logged, and never sent to the caller.
 * @param logged the fields of the request's log lines.
 */
export function errorResponse(
  error: unknown,
  logged: { readonly operation: string; readonly correlator: string },
): HttpResponse {
  if (error instanceof ApiError) return codeResponse(error.code, error.details);
  if (error instanceof DeadlinePassed) {
    log("DEADLINE_PASSED", logged);
    return codeResponse("TIMEOUT");
  }
  if (error instanceof Unavailable) {
    log("DEPENDENCY_FAILED", { ...logged, cause: error.message });
    return codeResponse("UNAVAILABLE");
  }
  log("CRASH", { ...logged, cause: causeOf(error) });
  return codeResponse("INTERNAL");
}

function codeResponse(code: Code, details: ErrorDetails = {}): HttpResponse {
  const { status, message, retryAfterSeconds, allowance } = { ...errorRow(code), ...details };
  return {
    status,
    code,
    headers: {
      ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
      ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
      ...rateLimitHeaders(allowance),
    },
    content: { body: JSON.stringify({ status, code, message }) },
  };
}

/** What is left of a caller's limits (behaviour section 9). */
export function rateLimitHeaders(allowance: Allowance | undefined): Readonly<Record<string, string>> {
  if (allowance === undefined) return {};
  return {
    "x-ratelimit-limit": String(allowance.limit),
    "x-ratelimit-remaining": String(allowance.remaining),
    "x-ratelimit-reset": String(allowance.resetSeconds),
  };
}

/** What names a request in its response. */
interface ResponseIds {
  readonly correlator: string;
  readonly requestId: string | undefined;
}

/** A response in the form that API Gateway takes. */
export function proxyResult(
  response: HttpResponse,
  { correlator, requestId }: ResponseIds,
): APIGatewayProxyResult {
  return {
    statusCode: response.status,
    headers: {
      "content-type": "application/json",
      "cache-control": "no-store",
      [correlatorHeader]: correlator,
      ...(requestId === undefined ? {} : { [requestIdHeader]: requestId }),
      ...response.headers,
    },
    ...response.content,
  };
}
