/** What API Gateway is told of the service, as values: the stack makes its API of them, and a local run serves them. */
import {
  type EndpointId,
  endpoints,
  type ProtocolEndpointId,
  type WebsiteId,
  websites,
} from "../functions/areas.ts";
import { type Endpoint, pathsOf, verbsOf } from "../shared/endpoint.ts";
import { type Code, errorRow, errors } from "../shared/errors.ts";
import { correlatorHeader, requestIdHeader } from "../shared/http/correlator.ts";
import { exposedHeaders } from "../shared/http/cors.ts";
import { type ServedSettings, servedEndpoints } from "./served.ts";

/** The stage of the API, which is in the ARNs of its methods. */
export const apiStage = "live";

/** Answers from this size on are compressed, unless they are streamed or the function has compressed them. */
export const compressedKibibytes = 4;

/** The authorizer of the methods that need a token. */
export const authorizer = {
  functionId: "authorizer/authorize",
  header: "Authorization",
  /** Tokens of another form are refused by API Gateway without running the authorizer. */
  expression: "^[Bb][Ee][Aa][Rr][Ee][Rr] +[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$",
  /** A policy is kept per token for this long; functions check the token's expiry themselves. */
  cacheSeconds: 300,
} as const;

/** A verb of a path, and the function that answers it. */
export interface Method {
  readonly path: string;
  readonly verb: string;
  readonly functionId: EndpointId | ProtocolEndpointId | WebsiteId;
  /** The scope that a token must have; null for a method that needs none. */
  readonly scope: string | null;
  /** Whether the response is sent while the function writes it. */
  readonly streamed: boolean;
  readonly publicBecause: string | undefined;
}

/** Every method of a stage that a function answers. */
export function methodsOf(settings: Pick<ServedSettings, "configuration">): readonly Method[] {
  const ofEndpoints = servedEndpoints(settings).flatMap((endpoint) =>
    pathsOf(endpoint).flatMap((path) =>
      verbsOf(endpoint).map((verb) => ({
        path,
        verb,
        functionId: endpoint.id,
        scope: endpoint.scope,
        streamed: "streamed" in endpoint,
        publicBecause: (endpoint as Endpoint).publicBecause,
      })),
    ),
  );
  const ofWebsites = websites.flatMap(({ id, paths, publicBecause }) =>
    paths.map((path) => ({ path, verb: "GET", functionId: id, scope: null, streamed: false, publicBecause })),
  );
  return [...ofEndpoints, ...ofWebsites];
}

/** The scopes of all endpoints. Each has an authorizer, so that a cached answer can name the scope that was needed. */
export const scopes: readonly string[] = [...new Set(endpoints.flatMap(({ scope }) => scope ?? []))];

/** What is answered to the verbs that a path does not have. */
export interface OtherVerbs {
  readonly path: string;
  readonly verbs: readonly string[];
  /** The headers that a page may send, in lower case. */
  readonly requestHeaders: readonly string[];
}

/** One for each path of an endpoint of the stage. */
export function otherVerbsOf(settings: Pick<ServedSettings, "configuration">): readonly OtherVerbs[] {
  const declared: readonly Endpoint[] = servedEndpoints(settings);
  const paths = [...new Set(declared.flatMap(pathsOf))];
  return paths.map((path) => {
    const answering = declared.filter((endpoint) => pathsOf(endpoint).includes(path));
    const read = answering.flatMap(({ requestHeaders = {} }) => Object.keys(requestHeaders));
    const names = [
      "authorization",
      "content-type",
      correlatorHeader,
      ...read.map((name) => name.toLowerCase()),
    ];
    return { path, verbs: answering.flatMap(verbsOf).sort(), requestHeaders: [...new Set(names)].sort() };
  });
}

/** Seconds for which a browser may keep the answer of a preflight; Chromium keeps none for longer. */
const preflightSeconds = 7_200;

/** Types of bodies that are ignored with another verb. API Gateway refuses those of other types. */
export const ignoredTypes: readonly string[] = [
  "application/json",
  "application/octet-stream",
  "application/x-www-form-urlencoded",
  "multipart/form-data",
  "text/plain",
];

/** A valid correlator as a regular expression that Java and JavaScript read alike. */
export const validCorrelator = "[a-zA-Z0-9_:;./<>{}-]{1,256}";

/** The body of the 405 of a path. */
export function refusalOf({ verbs }: OtherVerbs): string {
  const message = `This path takes ${verbs.join(" and ")} only.`;
  return JSON.stringify({ status: errors.METHOD_NOT_ALLOWED.status, code: "METHOD_NOT_ALLOWED", message });
}

/** The headers that a page of an allowed origin gets: with a 405, or with the answer of a preflight. */
export function pageHeadersOf(
  { verbs, requestHeaders }: OtherVerbs,
  isPreflight: boolean,
): Readonly<Record<string, string>> {
  if (!isPreflight) return { "Access-Control-Expose-Headers": exposedHeaders };
  return {
    "Access-Control-Allow-Methods": verbs.join(","),
    "Access-Control-Allow-Headers": requestHeaders.join(","),
    "Access-Control-Max-Age": String(preflightSeconds),
  };
}

/** What API Gateway answers itself, without a function. */
export interface GatewayResponse {
  /** https://docs.aws.amazon.com/apigateway/latest/developerguide/supported-gateway-response-types.html */
  readonly type: string;
  readonly status: number;
  /** By name, a literal in single quotes, or a variable: `context.requestId`, `method.request.header.x-correlator`. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON in which `$context.authorizer.…` is substituted. */
  readonly template: string;
}

/**
 * Messages that say more than the catalogue's. The authorizer's context names the scope:
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-mapping-template-reference.html
 */
const ownMessages: Readonly<Record<string, string>> = {
  ACCESS_DENIED: "The access token lacks the scope $context.authorizer.neededScope.",
  // An unknown path, with and without a bearer token (docs/decisions/0001).
  DEFAULT_4XX: "There is no operation with this path.",
  // For an unsupported Content-Encoding, and for an unsupported verb whose body has a rare type.
  UNSUPPORTED_MEDIA_TYPE:
    "The Content-Encoding must be gzip or deflate and match the body, or the method is not allowed.",
  REQUEST_TOO_LARGE: "The body is too large.",
};

/**
 * API Gateway's own errors from the error catalogue, so that all errors have one form. The default of a class of errors
 * stands for every type of its row, with its status too.
 *
 * The correlator is echoed as it was sent, and omitted if there was none: a gateway response can substitute variables
 * but has no conditions (behaviour section 2).
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/rest-api-parameter-mapping-sources.html
 */
export function gatewayResponsesOf(corsOrigins: readonly string[]): readonly GatewayResponse[] {
  return (Object.keys(errors) as Code[]).flatMap((code) => {
    const { status, message, retryAfterSeconds, gatewayResponses = [] } = errorRow(code);
    const byDefault = gatewayResponses.find((type) => type.startsWith("DEFAULT_"));
    return (byDefault === undefined ? gatewayResponses : [byDefault]).map((type) => ({
      type,
      status,
      template: JSON.stringify({ status, code, message: ownMessages[type] ?? message }),
      headers: {
        [correlatorHeader]: `method.request.header.${correlatorHeader}`,
        [requestIdHeader]: "context.requestId",
        "cache-control": "'no-store'",
        ...corsHeaders(corsOrigins),
        ...(status === 401 ? { "www-authenticate": "'Bearer'" } : {}),
        ...(type === "ACCESS_DENIED" ? { "www-authenticate": "context.authorizer.challenge" } : {}),
        ...(retryAfterSeconds === undefined ? {} : { "retry-after": `'${retryAfterSeconds}'` }),
      },
    }));
  });
}

/**
 * If more than one origin is allowed, any page may read API Gateway's own refusals: a gateway response cannot choose an
 * origin, and contains only what the OpenAPI document says and the request's ids (docs/decisions/0002).
 */
function corsHeaders(origins: readonly string[]): Readonly<Record<string, string>> {
  const [origin, ...others] = origins;
  if (origin === undefined) return {};
  const isOne = others.length === 0 && !origin.endsWith("*");
  return {
    "access-control-allow-origin": isOne ? `'${origin}'` : "'*'",
    "access-control-expose-headers": `'${exposedHeaders}'`,
  };
}
