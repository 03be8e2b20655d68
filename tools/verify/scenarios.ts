import { randomUUID } from "node:crypto";
import { endpoints } from "../../functions/areas.ts";
import type { Endpoint } from "../../shared/endpoint.ts";
import type { Code } from "../../shared/errors.ts";
import type { DemoLogin } from "../demo-logins.ts";
import { type SampleRequest, sampleRequests } from "./sample-requests.ts";

/** One request and what the contract says of its answer. */
export interface Scenario {
  /** `<area>/<operation>.<status>-<case>`, as a file of `events/`. */
  readonly name: string;
  readonly endpoint: Endpoint;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Undefined for a request without a token. */
  readonly login: DemoLogin | undefined;
  readonly status: number;
  /** Code of the error; undefined for a success. */
  readonly code: Code | undefined;
}

/** A request that cannot be sent to this service. */
export interface Skipped {
  readonly name: string;
  readonly reason: string;
}

/**
 * The scenarios of the contract: the requests of `events/`, and for each operation one without a token and one whose
 * token lacks the scope.
 * @param logins who may send them.
 */
export async function scenarios(
  logins: readonly DemoLogin[],
): Promise<{ readonly scenarios: readonly Scenario[]; readonly skipped: readonly Skipped[] }> {
  const samples = (await sampleRequests()).map((request) => scenarioOf(request, logins));
  const refusals = endpoints.filter(({ scope }) => scope !== null).flatMap((one) => refusalsOf(one, logins));
  const all = [...samples, ...refusals];
  return {
    scenarios: all.filter((one): one is Scenario => !("reason" in one)),
    skipped: all.filter((one): one is Skipped => "reason" in one),
  };
}

function scenarioOf(request: SampleRequest, logins: readonly DemoLogin[]): Scenario | Skipped {
  const { file, endpoint, path, headers, body, claims, status, code } = request;
  const name = file.replace(/\.json$/, "");
  // What is stored of an operation is of the service that the event was recorded on.
  const isStored = claims.client_id !== undefined && ![400, 404].includes(status);
  if (isStored) return { name, reason: "is about an operation that was begun before" };
  const login = logins.find(
    ({ Permissions, subscription }) =>
      subscription === claims.subscription && Permissions.split(" ").includes(`${endpoint.scope}`),
  );
  if (endpoint.scope !== null && login === undefined) {
    const whom = claims.subscription === undefined ? "no subscription" : "the subscription of the event";
    return { name, reason: `needs a login with ${endpoint.scope} and ${whom}` };
  }
  return {
    name,
    endpoint,
    path,
    headers: status < 300 ? withNewKey(headers) : headers,
    body,
    login: endpoint.scope === null ? undefined : login,
    status,
    code,
  };
}

/** With a key that no earlier run has used for another request. */
function withNewKey(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return "idempotency-key" in headers ? { ...headers, "idempotency-key": randomUUID() } : headers;
}

function refusalsOf(endpoint: Endpoint, logins: readonly DemoLogin[]): (Scenario | Skipped)[] {
  const request = {
    endpoint,
    path: endpoint.path.replaceAll(/\{\w+\}/g, randomUUID()),
    headers: { "x-correlator": "verify" },
    body: endpoint.body === undefined ? undefined : "{}",
  };
  const withoutToken = `${endpoint.id}.401-without-a-token`;
  const withoutScope = `${endpoint.id}.403-without-the-scope`;
  const other = logins.find(({ Permissions }) => !Permissions.split(" ").includes(`${endpoint.scope}`));
  return [
    { ...request, name: withoutToken, login: undefined, status: 401, code: "UNAUTHENTICATED" },
    other === undefined
      ? { name: withoutScope, reason: `needs a login without ${endpoint.scope}` }
      : { ...request, name: withoutScope, login: other, status: 403, code: "PERMISSION_DENIED" },
  ];
}
