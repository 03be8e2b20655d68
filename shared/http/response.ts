import { causeOf, log } from "../aws/log.ts";
import type { Endpoint } from "../endpoint.ts";
import { type Allowance, ApiError, type Code, type ErrorDetails, errorRow, Unavailable } from "../errors.ts";
import { correlatorHeader, requestIdHeader } from "./correlator.ts";
import { DeadlinePassed } from "./deadline.ts";
import { encodedBody } from "./encoded-body.ts";

/** What a request is answered: what its handler replies, or an error. */
export interface Reply {
  readonly status: number;
  /** The code of an error. */
  readonly code?: Code;
  readonly headers: Readonly<Record<string, string>>;
  /** Text, or the chunks of a streamed body. */
  readonly body: string | AsyncIterable<Uint8Array>;
  /** Runs once, when a streamed body has been sent or cut off. */
  readonly onEnd?: (() => Promise<void>) | undefined;
}

/** A reply whose body is encoded by the schema of its status. */
export function jsonReply(
  endpoint: Endpoint,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>>,
): Reply {
  const text = JSON.stringify(schemaOf(endpoint, status).parse(body));
  return { status, headers: { ...headersOf(endpoint), ...headers }, body: text };
}

/** A reply of chunks that are encoded already. */
export function streamedReply(
  endpoint: Endpoint,
  status: number,
  { headers, body, onEnd }: Pick<Reply, "headers" | "body" | "onEnd">,
): Reply {
  schemaOf(endpoint, status);
  return { status, headers: { ...headersOf(endpoint), ...headers }, body, onEnd };
}

function schemaOf({ responses }: Endpoint, status: number) {
  const schema = responses[status];
  if (schema === undefined) throw new Error(`status ${status} is not declared`);
  return schema;
}

function headersOf({ mediaType, headers }: Endpoint): Readonly<Record<string, string>> {
  return { ...(mediaType === undefined ? {} : { "content-type": mediaType }), ...headers };
}

/** A reply as it is sent: a streamed body is compressed if the caller accepts that. Waits for the first chunk. */
export async function encodedReply(reply: Reply, acceptEncoding: string | undefined): Promise<Reply> {
  if (typeof reply.body === "string") return reply;
  const { headers, chunks } = await encodedBody(reply.body, acceptEncoding);
  const { vary } = reply.headers;
  const both = vary === undefined ? {} : { vary: `${vary}, ${headers.vary}` };
  return { ...reply, headers: { ...reply.headers, ...headers, ...both }, body: chunks };
}

/**
 * Turns any thrown value into a reply. The cause is logged, but never sent to the caller.
 * @param logged the fields of the request's log lines.
 */
export function errorResponse(
  error: unknown,
  logged: { readonly operation: string; readonly correlator: string },
  { oauth2 }: Pick<Endpoint, "oauth2"> = {},
): Reply {
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

function codeResponse(code: Code, details: ErrorDetails, isOAuth2: boolean): Reply {
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

/** What a response repeats of its request. */
export interface Echo {
  readonly correlator: string;
  readonly requestId: string | undefined;
}

/** A reply with the headers that every response has. */
export function withEcho(reply: Reply, { correlator, requestId }: Echo): Reply {
  const headers = {
    "content-type": "application/json",
    "cache-control": "no-store",
    [correlatorHeader]: correlator,
    ...(requestId === undefined ? {} : { [requestIdHeader]: requestId }),
    ...reply.headers,
  };
  return { ...reply, headers };
}

/** Status and headers of a reply, in API Gateway's format. */
export function headOf({ status, headers }: Reply) {
  return { statusCode: status, headers: { ...headers } };
}
