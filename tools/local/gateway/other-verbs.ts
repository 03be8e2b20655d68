import {
  ignoredTypes,
  type OtherVerbs,
  pageHeadersOf,
  refusalOf,
  validCorrelator,
} from "../../../infra/gateway.ts";
import { errors } from "../../../shared/errors.ts";
import { correlatorHeader, requestIdHeader } from "../../../shared/http/correlator.ts";
import { GatewayError, type Reply } from "./gateway-responses.ts";
import { headerAsSent, headerOf, type ReceivedRequest } from "./received-request.ts";

const correlatorPattern = new RegExp(`^(?:${validCorrelator})$`);

/**
 * The answer to a verb that the path does not have: 405 or, to `OPTIONS` where pages of other origins are allowed, that of
 * a preflight. API Gateway renders it from the templates of `infra/constructs/other-verbs.ts`.
 * @param origins matches the origins of these pages; empty if there are none.
 * @throws {GatewayError} if the body has a type that is not ignored.
 */
export function otherVerbsReply(others: OtherVerbs, origins: string, request: ReceivedRequest): Reply {
  const type =
    headerOf(request, "content-type")?.split(";", 1)[0]?.trim().toLowerCase() || "application/json";
  if (!ignoredTypes.includes(type)) throw new GatewayError("UNSUPPORTED_MEDIA_TYPE");
  const isPreflight = origins !== "" && request.method === "OPTIONS";
  const sent = headerAsSent(request, correlatorHeader) ?? "";
  const correlator = correlatorPattern.test(sent) ? sent : request.requestId;
  const origin = headerAsSent(request, "origin") || headerAsSent(request, "Origin") || "";
  const isAllowed = origins !== "" && new RegExp(`^(?:${origins})$`).test(origin);
  const forPages: Readonly<Record<string, string>> = isAllowed
    ? { "access-control-allow-origin": origin, ...pageHeadersOf(others, isPreflight) }
    : {};
  const headers: Readonly<Record<string, string>> = {
    "content-type": "application/json",
    allow: others.verbs.join(", "),
    "cache-control": "no-store",
    [requestIdHeader]: request.requestId,
    ...(origins === "" ? {} : { vary: "origin" }),
    ...(isPreflight ? {} : { [correlatorHeader]: correlator }),
    ...forPages,
  };
  return {
    status: isPreflight ? 204 : errors.METHOD_NOT_ALLOWED.status,
    headers: Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const),
    body: isPreflight ? "" : refusalOf(others),
  };
}
