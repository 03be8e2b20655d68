import { causeOf, log } from "../aws/log.ts";
import type { Endpoint } from "../endpoint.ts";
import { type Allowance, ApiError, type Code, type ErrorDetails, errorRow, Unavailable } from "../errors.ts";
import { correlatorHeader, requestIdHeader } from "./correlator.ts";
import { withCors } from "./cors.ts";
import { DeadlinePassed } from "./deadline.ts";
import { encodedBody } from "./encoded-body.ts";
import type { Reply } from "./request.ts";

/** A response without the headers that every response has. */
export interface HttpResponse {
  readonly status: number;
  /** The code of an error. */
  readonly code?: Code;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text, or the chunks of a streamed body. */
  readonly body: string | AsyncIterable<Uint8Array>;
  /** Runs once, when a streamed body has been sent or cut off. */
  readonly onEnd?: (() => Promise<void>) | undefined;
}

/** Creates the response of a reply. Encodes the body by the schema of its status, unless it is streamed. */
export async function replyResponse(
  endpoint: Endpoint,
  { status, body, headers: own, chunks, onEnd }: Reply,
  acceptEncoding: string | undefined,
): Promise<HttpResponse> {
  const schema = endpoint.responses[status];
  if (schema === undefined) throw new Error(`status ${status} is not declared`);
  const { mediaType } = endpoint;
  const type = mediaType === undefined ? {} : { "content-type": mediaType };
  const headers = { ...type, ...endpoint.headers, ...own };
  if (chunks === undefined) return { status, headers, body: JSON.stringify(schema.parse(body)) };
  const encoded = await encodedBody(chunks, acceptEncoding);
  const vary = own.vary === undefined ? {} : { vary: `${own.vary}, ${encoded.headers.vary}` };
  return { status, headers: { ...headers, ...encoded.headers, ...vary }, body: encoded.chunks, onEnd };
}

/**
 * Turns any thrown value into a response. The cause is logged, but never sent to the caller.
 * @param logged the fields of the request's log lines.
 */
export function errorResponse(
  error: unknown,
  logged: { readonly operation: string; readonly correlator: string },
  { oauth2 }: Pick<Endpoint, "oauth2"> = {},
): HttpResponse {
  const { code, details } = refusalOf(error, logged);
  return codeResponse(code, details, oauth2 === true);
}

function refusalOf(
  error: unknown,
  logged: Parameters<typeof errorResponse>[1],
): Pick<ApiError, "code" | "details"> {
  if (error instanceof ApiError) return error;
  if (error instanceof DeadlinePassed) {
    log("DEADLINE_PASSED", logged);
    return { code: "TIMEOUT", details: {} };
  }
  if (error instanceof Unavailable) {
    log("DEPENDENCY_FAILED", { ...logged, cause: error.message });
    return { code: "UNAVAILABLE", details: {} };
  }
  log("CRASH", { ...logged, cause: causeOf(error) });
  return { code: "INTERNAL", details: {} };
}

function codeResponse(code: Code, details: ErrorDetails, isOAuth2: boolean): HttpResponse {
  const { status, message, retryAfterSeconds, allowance, oauthError, challenge } = {
    ...errorRow(code),
    ...details,
  };
  return {
    status,
    code,
    headers: {
      ...challengeOf(status, isOAuth2, challenge),
      ...(isOAuth2 ? { pragma: "no-cache" } : {}),
      ...(status === 406 ? { vary: "accept" } : {}),
      ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
      ...rateLimitHeaders(allowance),
    },
    body: JSON.stringify({
      status,
      code,
      message,
      ...(isOAuth2 && oauthError !== undefined ? { error: oauthError, error_description: message } : {}),
    }),
  };
}

function challengeOf(status: number, isOAuth2: boolean, challenge: string | undefined) {
  if (challenge !== undefined) return { "www-authenticate": challenge };
  // A client of OAuth 2 would take the challenge for one of a resource.
  return status === 401 && !isOAuth2 ? { "www-authenticate": "Bearer" } : {};
}

/** The headers with the caller's remaining allowance (behaviour section 9). */
export function rateLimitHeaders(allowance: Allowance | undefined): Readonly<Record<string, string>> {
  if (allowance === undefined) return {};
  return {
    "x-ratelimit-limit": String(allowance.limit),
    "x-ratelimit-remaining": String(allowance.remaining),
    "x-ratelimit-reset": String(allowance.resetSeconds),
  };
}

/** What a response repeats of its request: its identifiers, and the origin of the page that sent it, if any. */
export interface Echo {
  readonly correlator: string;
  readonly requestId: string | undefined;
  readonly origin: string | undefined;
}

/** Status and headers of a response, in API Gateway's format. */
export function proxyHead(
  { status, headers }: HttpResponse,
  { correlator, requestId, origin }: Echo,
): { statusCode: number; headers: Record<string, string> } {
  return {
    statusCode: status,
    headers: withCors(
      {
        "content-type": "application/json",
        "cache-control": "no-store",
        [correlatorHeader]: correlator,
        ...(requestId === undefined ? {} : { [requestIdHeader]: requestId }),
        ...headers,
      },
      origin,
    ),
  };
}
