import {
  type EndpointId,
  endpoints,
  type ProtocolEndpointId,
  protocolEndpoints,
} from "../../functions/areas.ts";
import { jwtBearer } from "../../functions/oauth2/rules.ts";
import { configuration } from "../../infra/variables.ts";
import type { Code } from "../../shared/errors.ts";
import { sampleRequests } from "../../tools/verify/sample-requests.ts";
import { clientCredentials } from "../oauth2/test-client.ts";
import { boxIn } from "../support/densities.ts";
import { requestIn } from "../support/jobs.ts";
import { withSink } from "../support/sample-requests.ts";
import { everyScope } from "../support/scopes.ts";
import { ellipticKey, rsaKey, signedBy, tokenOf } from "../support/signed.ts";
import type { SinkAnswer } from "../support/sink.ts";
import {
  address,
  hide,
  ipv6Address,
  natted,
  networkAccessIdentifier,
  password,
  phoneNumber,
  sent,
  sinkToken,
  unknownNumber,
} from "./privacy-canaries.ts";

type Id = EndpointId | ProtocolEndpointId;

/** A request, and what comes of it. */
export interface Flow {
  /** What comes of it: the status, and the code of an error. */
  readonly ends: `${2 | 4 | 5}${number}` | `${4 | 5}${number} ${Code}`;
  /** The function that answers, or what refuses before one is called. */
  readonly by: Id | "gateway";
  readonly path: string;
  readonly method?: string;
  readonly authorization?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

const paths = Object.fromEntries(
  [...endpoints, ...protocolEndpoints].map(({ id, path }) => [id, path]),
) as Record<Id, string>;

/** Makes the URL of a sink that answers as it is told. */
type SinkOf = (...given: readonly SinkAnswer[]) => string;

function flowsOf(endpoint: Id, ...flows: readonly Partial<Flow>[]): Flow[] {
  return flows.map((flow) => ({ ends: "200", by: endpoint, path: paths[endpoint], ...flow }));
}

/** The key and the names of authorization servers, of which one does not answer. */
export const key = rsaKey();
export const issuer = "https://live.example";
export const deadIssuer = "https://dead.example";

function bearer(claims: Readonly<Record<string, unknown>> = {}, signer = key): string {
  const { client_id: application = `zq-client-${crypto.randomUUID()}` } = claims;
  const payload = {
    iss: issuer,
    aud: "operator",
    sub: application,
    client_id: application,
    scope: everyScope.join(" "),
    exp: Math.floor(Date.now() / 1_000) + 600,
    ...claims,
  };
  sent.push(JSON.stringify(payload));
  return `Bearer ${tokenOf({ alg: "RS256", typ: "JWT", kid: signer.kid }, payload, signedBy(signer))}`;
}

const byItself = { authorization: bearer() };
const aboutSubject = { authorization: bearer({ subscription: "zq-subscription" }) };
const badCorrelator = { headers: { "x-correlator": "zq-correlator refused" } };

function logins(): Flow[] {
  const emailaddress = address;
  return flowsOf(
    "profile/authenticate",
    { body: { emailaddress, password } },
    { body: { emailaddress, password: `${password}-wrong` }, ends: "401 UNAUTHENTICATED" },
    { body: { emailaddress: `nobody.${address}`, password }, ends: "401 UNAUTHENTICATED" },
    { body: { emailaddress: `throttled.${address}`, password }, ends: "429 TOO_MANY_REQUESTS" },
    { body: { emailaddress: `damaged.${address}`, password }, ends: "500 INTERNAL" },
    { body: `{"emailaddress":"${address}","password":"${password}`, ends: "400 INVALID_ARGUMENT" },
  );
}

function publications(): Flow[] {
  const ids = ["keys/publish", "openapi/publish", "oauth2/metadata"] as const;
  return ids.flatMap((id) => flowsOf(id, {}, { ...badCorrelator, ends: "400 INVALID_ARGUMENT" }));
}

/** The key of a client that is stored. */
export const clientKey = ellipticKey("zq-client-key");
export const keyedClient = "zq-client-keyed";

/** The form of a client's request for a token about itself, or about a subscriber. */
function formOf(
  grant: "client_credentials" | typeof jwtBearer,
  claims: Readonly<Record<string, unknown>>,
): string {
  const payload = {
    iss: keyedClient,
    sub: keyedClient,
    aud: configuration.TOKEN_ISSUER.default,
    exp: Math.floor(Date.now() / 1_000) + 60,
    jti: `zq-jti-${crypto.randomUUID()}`,
    ...claims,
  };
  sent.push(JSON.stringify(payload));
  const assertion = tokenOf({ alg: "ES256", kid: clientKey.kid }, payload, signedBy(clientKey));
  return new URLSearchParams(
    grant === jwtBearer
      ? { grant_type: grant, assertion }
      : { ...clientCredentials(assertion, "qos-profiles:read"), client_id: String(payload.iss) },
  ).toString();
}

function tokenRequests(): Flow[] {
  const scope = "qos-profiles:read dpv:ServiceProvision";
  const about = (number: string, claims = {}) =>
    formOf(jwtBearer, { sub: `tel:${number}`, scope, ...claims });
  return flowsOf(
    "oauth2/token",
    { body: formOf("client_credentials", {}) },
    { body: about(phoneNumber) },
    { body: formOf("client_credentials", { iss: "zq-client-unknown" }), ends: "401 INVALID_CLIENT" },
    { body: formOf("client_credentials", { aud: "https://zq-host.example" }), ends: "401 INVALID_CLIENT" },
    { body: about(unknownNumber), ends: "400 INVALID_GRANT" },
    { body: about("zq-number"), ends: "400 INVALID_GRANT" },
    { body: about(phoneNumber, { scope: "zq-token" }), ends: "400 INVALID_SCOPE" },
    { body: "grant_type=zq-token", ends: "400 UNSUPPORTED_GRANT_TYPE" },
    { body: "zq-body=1", ends: "400 INVALID_ARGUMENT" },
  );
}

/** What no file of `events/` is: a device with every identifier, bytes that are no text, a caller over its quota. */
function deviceRequests(): Flow[] {
  const device = { phoneNumber, ipv4Address: natted, ipv6Address, networkAccessIdentifier };
  return [
    ...flowsOf(
      "qos-profiles/retrieve",
      { ...byItself, body: { device } },
      { ...byItself, body: { device: { phoneNumber: "zq-number" } }, ends: "400 INVALID_ARGUMENT" },
      { ...byItself, body: Buffer.from('{"zq-body":"\xff"}', "latin1"), ends: "400 INVALID_ARGUMENT" },
      { ...byItself, ...badCorrelator, body: {}, ends: "400 INVALID_ARGUMENT" },
      {
        authorization: bearer({ client_id: "zq-client-over-quota" }),
        body: { device },
        ends: "429 QUOTA_EXCEEDED",
      },
    ),
    ...flowsOf("device-identifier/retrieve", { ...aboutSubject, body: {} }),
    ...flowsOf("qos-profiles/get-by-name", {
      ...byItself,
      path: paths["qos-profiles/get-by-name"].replace("{name}", "zq-name%20malformed"),
      ends: "400 INVALID_ARGUMENT",
    }),
  ];
}

function densityRequests(good: string, broken: string, sinkOf: SinkOf): Flow[] {
  const request = requestIn(boxIn(good, [1, 1], [1.2, 2]));
  const brokenRequest = requestIn(boxIn(broken, [1, 1], [1.2, 2]));
  const credential = { credentialType: "ACCESSTOKEN", accessToken: sinkToken, accessTokenType: "bearer" };
  const to = (url: string) => ({ ...request, sink: url, sinkCredential: credential });
  const delivering = sinkOf();
  return flowsOf(
    "population-density/retrieve",
    { ...byItself, body: request },
    { ...byItself, body: to(delivering), ends: "202" },
    { ...byItself, body: to(delivering), headers: { "idempotency-key": "zq-idempotency" }, ends: "202" },
    { ...byItself, body: to(sinkOf({ status: 410 })), ends: "202" },
    { ...byItself, body: to(sinkOf({ status: 500 })), ends: "202" },
    { ...byItself, body: to(sinkOf("reset")), ends: "202" },
    { ...byItself, body: to(sinkOf().replace("http:", "https:")), ends: "202" },
    { ...byItself, body: to("http://127.0.0.1:1025/zq-path?zq-sink-query"), ends: "202" },
    { ...byItself, body: to("https://zq-host.example/zq-path?zq-sink-query"), ends: "202" },
    { ...byItself, body: { ...to(sinkOf()), ...brokenRequest }, ends: "202" },
    { ...byItself, body: brokenRequest, ends: "500 INTERNAL" },
    { ...byItself, body: to("https://zq-host.internal/zq-path"), ends: "400 INVALID_SINK" },
    {
      ...byItself,
      body: { ...to(delivering), sinkCredential: { ...credential, accessToken: `${sinkToken}é` } },
      ends: "400 INVALID_ARGUMENT",
    },
    {
      ...byItself,
      body: to(delivering),
      headers: { "idempotency-key": "zq-idempotency".repeat(20) },
      ends: "400 INVALID_ARGUMENT",
    },
  );
}

function refusedBefore(): Flow[] {
  const path = paths["qos-profiles/retrieve"];
  const body = { device: { phoneNumber } };
  const [head, payload] = bearer().split(".");
  const refused = { by: "gateway", path, body } as const;
  return [
    { ...refused, ends: "401 UNAUTHENTICATED" },
    { ...refused, ends: "401 UNAUTHENTICATED", authorization: "Bearer zq-token.zq-token.zq-token" },
    { ...refused, ends: "401 UNAUTHENTICATED", authorization: "Basic zq-basic" },
    { ...refused, ends: "401 UNAUTHENTICATED", authorization: `${head}.${payload}.zq-token` },
    { ...refused, ends: "401 UNAUTHENTICATED", authorization: bearer({ exp: 1 }) },
    { ...refused, ends: "401 UNAUTHENTICATED", authorization: bearer({ sub: { "zq-subject": 1 } }) },
    { ...refused, ends: "401 UNAUTHENTICATED", authorization: bearer({ sub: "zq-person" }) },
    { ...refused, ends: "401 UNAUTHENTICATED", authorization: bearer({}, ellipticKey()) },
    { ...refused, ends: "401 UNAUTHENTICATED", authorization: bearer({ iss: "https://zq-host.example" }) },
    { ...refused, ends: "403 PERMISSION_DENIED", authorization: bearer({ scope: "zq-token" }) },
    { ...refused, ends: "503 UNAVAILABLE", authorization: bearer({ iss: deadIssuer }) },
    { ...refused, ends: "404 NOT_FOUND", path: "/zq-path" },
    { ...refused, ends: "405 METHOD_NOT_ALLOWED", method: "PUT" },
  ];
}

/** The requests of `events/`. */
async function sampleFlows(sinkOf: SinkOf): Promise<Flow[]> {
  return (await sampleRequests()).map((request) => {
    const { file, endpoint, status, code, path, headers, body, claims } =
      request.status < 300 ? withSink(request, sinkOf) : request;
    hide(jsonIn(body ?? ""), `a value of events/${file}`);
    return {
      ends: (code === undefined ? `${status}` : `${status} ${code}`) as Flow["ends"],
      by: endpoint.id,
      path,
      method: endpoint.method,
      headers,
      body,
      ...(endpoint.scope === null ? {} : { authorization: bearer(claims) }),
    };
  });
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Every kind of request, each once: of densities in one tile that is good and one that is broken, and of `events/`. */
export async function everyFlow(good: string, broken: string, sinkOf: SinkOf): Promise<Flow[]> {
  return [
    ...logins(),
    ...publications(),
    ...tokenRequests(),
    ...deviceRequests(),
    ...densityRequests(good, broken, sinkOf),
    ...refusedBefore(),
    ...(await sampleFlows(sinkOf)),
  ];
}
