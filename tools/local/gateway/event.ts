/**
 * The event of a Lambda proxy integration of a REST API.
 * https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html#api-gateway-simple-proxy-for-lambda-input-format
 */
import type { APIGatewayProxyEvent } from "aws-lambda";
import { apiStage } from "../../../infra/gateway.ts";
import { account, apiId } from "../declared/aws-names.ts";
import type { AuthorizerContext } from "./authorizer.ts";
import { GatewayError } from "./gateway-responses.ts";
import { headerOf, type ReceivedRequest } from "./received-request.ts";
import type { RouteMatch } from "./routing.ts";

/** `requestContext` of the event. */
type RequestContext = APIGatewayProxyEvent["requestContext"];

/** Headers that concern the connection or the framing of the body; functions do not receive them. */
const droppedHeaders = new Set([
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "proxy-authenticate",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/**
 * The event of a request. Its body is base64, because the API treats all media types as binary.
 * @param publicUrl an https address instead of the requested one.
 * @throws {GatewayError} if the `Host` header is malformed.
 */
export function proxyEvent(
  request: ReceivedRequest,
  match: RouteMatch,
  body: Buffer,
  authorizer: AuthorizerContext | undefined,
  publicUrl?: URL,
): APIGatewayProxyEvent {
  const headers = grouped(
    [...request.headers.filter(([name]) => isForwarded(name)), ...addedHeaders(request, publicUrl)],
    true,
  );
  const query = grouped([...new URLSearchParams(request.queryString)], false);
  const hasQuery = Object.keys(query).length > 0;
  return {
    resource: match.path,
    path: request.path,
    httpMethod: request.method,
    headers: lastValues(headers),
    multiValueHeaders: headers,
    queryStringParameters: hasQuery ? lastValues(query) : null,
    multiValueQueryStringParameters: hasQuery ? query : null,
    pathParameters: match.pathParameters,
    stageVariables: null,
    requestContext: requestContext(request, match, authorizer, publicUrl),
    body: body.length === 0 ? null : body.toString("base64"),
    isBase64Encoded: body.length > 0,
  };
}

function requestContext(
  request: ReceivedRequest,
  match: RouteMatch,
  authorizer: AuthorizerContext | undefined,
  publicUrl: URL | undefined,
): RequestContext {
  const domainName = publicUrl?.host ?? withPort(requestedHost(request), request.port);
  return {
    accountId: account,
    apiId,
    authorizer,
    domainName,
    domainPrefix: domainName.split(".")[0],
    extendedRequestId: request.extendedRequestId,
    httpMethod: request.method,
    identity: {
      accessKey: null,
      accountId: null,
      apiKey: null,
      apiKeyId: null,
      caller: null,
      clientCert: null,
      cognitoAuthenticationProvider: null,
      cognitoAuthenticationType: null,
      cognitoIdentityId: null,
      cognitoIdentityPoolId: null,
      principalOrgId: null,
      sourceIp: request.sourceIp,
      user: null,
      userAgent: headerOf(request, "user-agent") ?? null,
      userArn: null,
    },
    path: request.path,
    protocol: request.protocol,
    requestId: request.requestId,
    requestTime: commonLogTime(request.receivedAt),
    requestTimeEpoch: request.receivedAt.getTime(),
    resourceId: match.path,
    resourcePath: match.path,
    stage: apiStage,
  };
}

/**
 * The requested host, instead of the API's domain; without one, the address of the local gateway.
 * @throws {GatewayError} if it is neither a name nor an address.
 */
export function requestedHost(request: ReceivedRequest): string {
  const host = headerOf(request, "host") || `127.0.0.1:${request.port}`;
  const isHost = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i.test(host) && URL.canParse(`http://${host}`);
  if (!isHost) throw new GatewayError("BAD_REQUEST_PARAMETERS");
  return host;
}

/** Adds the port, by which functions recognise the local gateway: a domain of API Gateway has none, and uses https. */
function withPort(host: string, port: number): string {
  return /:\d+$/.test(host) ? host : `${host}:${port}`;
}

function isForwarded(name: string): boolean {
  return (
    !droppedHeaders.has(name.toLowerCase()) && !/^x-(forwarded-(for|port|proto)|amzn-trace-id)$/i.test(name)
  );
}

function addedHeaders(
  request: ReceivedRequest,
  publicUrl: URL | undefined,
): readonly (readonly [string, string])[] {
  const forwardedFor = headerOf(request, "x-forwarded-for");
  return [
    ["X-Amzn-Trace-Id", headerOf(request, "x-amzn-trace-id") ?? request.traceId],
    ["X-Forwarded-For", forwardedFor ? `${forwardedFor}, ${request.sourceIp}` : request.sourceIp],
    ["X-Forwarded-Port", publicUrl === undefined ? String(request.port) : publicUrl.port || "443"],
    ["X-Forwarded-Proto", publicUrl === undefined ? "http" : "https"],
  ];
}

/** Values by name. With `ignoresCase`, names that differ only in case are merged under the first spelling. */
function grouped(
  pairs: readonly (readonly [name: string, value: string])[],
  ignoresCase: boolean,
): Record<string, string[]> {
  const groups = new Map<string, { readonly name: string; readonly values: string[] }>();
  for (const [name, value] of pairs) {
    const key = ignoresCase ? name.toLowerCase() : name;
    const group = groups.get(key);
    if (group) group.values.push(value);
    else groups.set(key, { name, values: [value] });
  }
  return Object.fromEntries([...groups.values()].map(({ name, values }) => [name, values]));
}

function lastValues(groups: Readonly<Record<string, readonly string[]>>): Record<string, string> {
  return Object.fromEntries(Object.entries(groups).map(([name, values]) => [name, values.at(-1) ?? ""]));
}

/** As in `09/Apr/2015:12:34:56 +0000`. */
function commonLogTime(time: Date): string {
  const [, day, month, year, clock] = time.toUTCString().split(" ");
  return `${day}/${month}/${year}:${clock} +0000`;
}
