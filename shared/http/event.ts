import * as z from "zod/mini";

/**
 * The members of an API Gateway proxy event (REST API, payload 1.0) that are read here, including the context of the
 * Lambda authorizer.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-apigateway.html
 */
const proxyEvent = z.object({
  resource: z._default(z.string(), ""),
  headers: z.nullish(z.record(z.string(), z.optional(z.string()))),
  multiValueHeaders: z.nullish(z.record(z.string(), z.optional(z.array(z.string())))),
  pathParameters: z.nullish(z.record(z.string(), z.optional(z.string()))),
  queryStringParameters: z.nullish(z.record(z.string(), z.optional(z.string()))),
  body: z.nullish(z.string()),
  isBase64Encoded: z._default(z.boolean(), false),
  requestContext: z.object({
    authorizer: z.optional(z.unknown()),
    domainName: z.optional(z.string()),
    path: z._default(z.string(), ""),
    requestId: z.optional(z.string()),
    identity: z.object({ sourceIp: z.string() }),
  }),
});

/** A request of API Gateway in a simpler form, with case-insensitive header names. */
export interface IncomingRequest {
  /** The called path of the endpoint, or alias, with `{name}` for parameters. */
  readonly resource: string;
  /** The last header with a name, given in lower case. */
  readonly header: (name: string) => string | undefined;
  /** All headers with a name combined into one list (RFC 9110, section 5.3). */
  readonly listHeader: (name: string) => string | undefined;
  /** Percent-encoded, as received. */
  readonly pathParameters: Readonly<Record<string, string | undefined>>;
  /** Decoded by API Gateway; the last value of a repeated name. */
  readonly queryParameters: Readonly<Record<string, string | undefined>>;
  readonly body: string | null;
  readonly isBase64Encoded: boolean;
  readonly authorizer: unknown;
  readonly sourceIp: string;
  /** API Gateway's id of the request, as in its access log; undefined if the event has none. */
  readonly requestId: string | undefined;
  /** The API's base address for the caller, without a trailing slash; undefined if the event has no domain. */
  readonly address: string | undefined;
}

/** @throws {z.ZodError} if the event is not API Gateway's, which is a fault of the stack, not of the caller. */
export function incomingRequest(event: unknown): IncomingRequest {
  const { resource, headers, multiValueHeaders, ...rest } = proxyEvent.parse(event);
  const { pathParameters, queryStringParameters, body, isBase64Encoded, requestContext } = rest;
  const { domainName, path } = requestContext;
  const entries = Object.entries(headers ?? {});
  const lists = Object.entries(multiValueHeaders ?? {});
  const header = (name: string) => entries.find(([key]) => key.toLowerCase() === name)?.[1];
  const origin = domainName === undefined ? undefined : originOf(domainName, header("x-forwarded-proto"));
  return {
    resource,
    header,
    listHeader: (name) => lists.find(([key]) => key.toLowerCase() === name)?.[1]?.join() ?? header(name),
    pathParameters: pathParameters ?? {},
    queryParameters: queryStringParameters ?? {},
    body: body ?? null,
    isBase64Encoded,
    authorizer: requestContext.authorizer,
    sourceIp: requestContext.identity.sourceIp,
    requestId: requestContext.requestId,
    address: origin === undefined ? undefined : `${origin}${prefixOf(path, resource)}`,
  };
}

/**
 * The origin of the event's domain; the `Host` header cannot be trusted. API Gateway always uses https on port 443; the
 * local gateway gives scheme and port.
 */
function originOf(domainName: string, scheme: string | undefined): string {
  const isLocal = scheme === "http" && /:\d+$/.test(domainName);
  return `${isLocal ? "http" : "https"}://${domainName}`;
}

/** The part of the path before the resource: the stage, the base path of a custom domain, or empty. */
function prefixOf(path: string, resource: string): string {
  const segments = segmentsOf(path);
  const own = segmentsOf(resource).length;
  return segments
    .slice(0, Math.max(0, segments.length - own))
    .map((segment) => `/${segment}`)
    .join("");
}

function segmentsOf(path: string): string[] {
  return path.split("/").filter((segment) => segment !== "");
}
