import { STATUS_CODES } from "node:http";
import type { oas31, ZodOpenApiResponseObject, ZodOpenApiResponsesObject } from "zod-openapi";
import { type Endpoint, failures } from "../../shared/endpoint.ts";
import { type Code, errorRow } from "../../shared/errors.ts";
import { errorExample, referencesTo } from "./examples.ts";
import { reference } from "./reference.ts";

/** Headers of the document that responses refer to; the names are those of the components. */
export const responseHeaders: Readonly<Record<string, oas31.HeaderObject>> = {
  XRequestId: {
    description: "The id of the request in the service's logs.",
    schema: { type: "string" },
    example: "c6af9ac6-7b61-11e6-9a41-93e8deadbeef",
  },
  XCorrelator: {
    description: "The `x-correlator` of the request. Without one, a value of the service's own.",
    schema: reference("schemas", "XCorrelator"),
  },
  // Without the pattern, and not required: API Gateway can only repeat what was sent.
  RefusedCorrelator: {
    description:
      "The `x-correlator` of the request. Without a valid one, a value of the service's own. A response that is made " +
      "before a function runs repeats what was sent, valid or not, and lacks it if nothing was sent.",
    schema: { type: "string" },
    example: "b4333c46-49c0-4f62-80d7-f0ef930f1c46",
  },
  WwwAuthenticate: {
    description: "The scheme to authenticate with.",
    schema: { type: "string", const: "Bearer" },
    example: "Bearer",
  },
  // Not required: absent where the token has the scope, and the subscriber has not consented.
  InsufficientScope: {
    description: "The scope that the token lacks (RFC 6750).",
    schema: { type: "string" },
    example: 'Bearer error="insufficient_scope", scope="number-recycling:check"',
  },
  NoStore: {
    description: "The response must not be cached.",
    schema: { type: "string", const: "no-store" },
    example: "no-store",
  },
  // Not required, and no constant: each lists what the response depends on, `origin` too where pages may use the API.
  Vary: {
    description: "The headers of the request on which the response depends.",
    schema: { type: "string" },
    example: "accept-encoding",
  },
  // Not required: absent of small responses, and where `Accept-Encoding` does not accept it.
  ContentEncoding: {
    description: "How the body is compressed, if the request accepts that (`Accept-Encoding`).",
    schema: { type: "string", enum: ["gzip", "deflate"] },
    example: "gzip",
  },
  RetryAfter: {
    description: "Seconds to wait before the next attempt.",
    schema: { type: "integer", minimum: 0 },
    example: 1,
  },
  // Not required: absent while requests cannot be counted, and for a limit without a window of time.
  RateLimitLimit: {
    description:
      "How much the limit allows in its window of time: requests in a minute or a day in UTC, of the " +
      "two the one that is nearer; failures of a login in 15 minutes.",
    schema: { type: "integer", minimum: 0 },
    example: 1_200,
  },
  RateLimitRemaining: {
    description:
      "How much of that is left. With 429 it is 0, but for a density request whose work is more than the day has left: " +
      "then it is what is left.",
    schema: { type: "integer", minimum: 0 },
    example: 1_199,
  },
  RateLimitReset: {
    description: "Seconds until the window ends.",
    schema: { type: "integer", minimum: 1 },
    example: 60,
  },
};

/** The headers of every success that name its request. */
export const identifyingHeaders: Readonly<Record<string, { readonly $ref: string }>> = {
  "x-correlator": reference("headers", "XCorrelator"),
  "x-request-id": reference("headers", "XRequestId"),
};

/** The rate limit headers of a response. */
export const rateLimitHeaders: Readonly<Record<string, { readonly $ref: string }>> = {
  "X-RateLimit-Limit": reference("headers", "RateLimitLimit"),
  "X-RateLimit-Remaining": reference("headers", "RateLimitRemaining"),
  "X-RateLimit-Reset": reference("headers", "RateLimitReset"),
};

/** Every code an operation can answer with: what it declares, then the failures of the service itself. */
export function codesOf({ errors }: Endpoint): readonly Code[] {
  return [...errors, ...failures];
}

/**
 * The error responses of an operation, one for each status. A status with a single code is a reference to
 * the response of that code among the components.
 */
export function errorResponses(endpoint: Endpoint): ZodOpenApiResponsesObject {
  return Object.fromEntries(
    byStatus(endpoint).map(([status, codes]) => {
      const [code] = codes;
      return [
        status,
        codes.length === 1 && code !== undefined
          ? reference("responses", code)
          : errorResponse(status, codes),
      ];
    }),
  );
}

/**
 * The one schema of errors, and next to the reference what this response has of it. Generators make one type for all
 * responses, and validators check both (JSON Schema 2020-12, section 8.2.3.1).
 */
function errorSchema(status: number, codes: readonly Code[]): oas31.SchemaObject {
  return {
    ...reference("schemas", "ErrorInfo"),
    properties: {
      status: { type: "integer", const: status, description: "HTTP status code." },
      code: { type: "string", enum: [...codes], description: "Error code." },
    },
  };
}

/** The responses that operations refer to, named by their codes. */
export function sharedErrorResponses(
  endpoints: readonly Endpoint[],
): Record<string, ZodOpenApiResponseObject> {
  const single = endpoints.flatMap(byStatus).filter(([, codes]) => codes.length === 1);
  return Object.fromEntries(single.map(([status, codes]) => [codes.join(), errorResponse(status, codes)]));
}

function byStatus(endpoint: Endpoint): [status: number, codes: Code[]][] {
  const groups = new Map<number, Code[]>();
  for (const code of codesOf(endpoint)) {
    const { status } = errorRow(code);
    groups.set(status, [...(groups.get(status) ?? []), code]);
  }
  return [...groups];
}

function errorResponse(status: number, codes: readonly Code[]): ZodOpenApiResponseObject {
  const meanings = codes.map((code) => `- \`${code}\`: ${errorRow(code).message}`);
  return {
    description: [`${STATUS_CODES[status]}.`, "", ...meanings].join("\n"),
    headers: {
      ...identifyingHeaders,
      "x-correlator": reference("headers", "RefusedCorrelator"),
      "cache-control": reference("headers", "NoStore"),
      ...(status === 406 ? { vary: reference("headers", "Vary") } : {}),
      ...(status === 401 ? { "WWW-Authenticate": reference("headers", "WwwAuthenticate") } : {}),
      ...(status === 403 ? { "WWW-Authenticate": reference("headers", "InsufficientScope") } : {}),
      ...(status === 429 || status === 503 ? { "Retry-After": reference("headers", "RetryAfter") } : {}),
      ...(status === 401 ? {} : rateLimitHeaders),
    },
    content: {
      "application/json": {
        schema: errorSchema(status, codes),
        examples: referencesTo(codes.map(errorExample)),
      },
    },
  };
}
