import { once } from "node:events";
import { request } from "node:http";
import { beforeAll, describe, expect, test } from "vitest";
import { endpoints } from "../../functions/areas.ts";
import { configuration } from "../../infra/variables.ts";
import { updateItem } from "../../shared/aws/database.ts";
import { type Endpoint, pathsOf } from "../../shared/endpoint.ts";
import type { Code } from "../../shared/errors.ts";
import { hashed } from "../../shared/hash.ts";
import { quotas } from "../../shared/quota/table.ts";
import { call, tokenWith } from "../support/client.ts";
import { useTables } from "../support/database.ts";
import { sharedService } from "../support/service.ts";

// What every endpoint answers alike, at each of its paths. What only one answers is tested in its area.

/** A request that an endpoint refuses like every other. */
interface Case {
  readonly sent: string;
  readonly requestTo: (
    endpoint: Endpoint,
  ) => Promise<{ readonly token?: string; readonly correlator?: string; readonly body?: string }>;
  readonly status: number;
  readonly code: Code;
  readonly headers?: (endpoint: Endpoint) => Readonly<Record<string, string>>;
}

const tokenFor = (endpoint: Endpoint, client = crypto.randomUUID()) =>
  tokenWith({ scope: endpoint.scope ?? "", client_id: client });

/** A token of a caller who has made so many requests today and in this minute; the next minute too, should it begin. */
async function tokenAfter(endpoint: Endpoint, dayCount: number, minuteCount: number): Promise<string> {
  const client = crypto.randomUUID();
  const now = Date.now();
  const write = {
    update: "SET #day = :day, dayCount = :dayCount, #minute = :minute, minuteCount = :minuteCount",
    condition: "attribute_not_exists(caller)",
    names: { "#day": "day", "#minute": "minute" },
    values: {
      ":day": Math.floor((now + 60_000) / 86_400_000),
      ":dayCount": dayCount,
      ":minute": Math.floor(now / 60_000) + 1,
      ":minuteCount": minuteCount,
    },
  };
  await updateItem(quotas, { caller: hashed(client) }, write, AbortSignal.timeout(60_000));
  return await tokenFor(endpoint, client);
}

const [ratePerMinute, dailyQuota] = [configuration.RATE_LIMIT_PER_MINUTE, configuration.DAILY_QUOTA].map(
  ({ default: limit }) => Number(limit),
) as [number, number];
const exhausted = (limit: number) => () => ({
  "x-ratelimit-limit": String(limit),
  "x-ratelimit-remaining": "0",
});

const noToken: Case = {
  sent: "no token",
  requestTo: async () => ({}),
  status: 401,
  code: "UNAUTHENTICATED",
  headers: () => ({ "www-authenticate": "Bearer" }),
};

/** Cases of endpoints with a scope, in the order of the checks, each also with a body that is not JSON. */
const ofGuarded: readonly Case[] = [
  noToken,
  {
    sent: "a token without its scope",
    requestTo: async () => ({ token: await tokenWith({ scope: "" }) }),
    status: 403,
    code: "PERMISSION_DENIED",
    headers: ({ scope }) => ({ "www-authenticate": `Bearer error="insufficient_scope", scope="${scope}"` }),
  },
  {
    sent: "the token of a caller over its rate",
    requestTo: async (endpoint) => ({ token: await tokenAfter(endpoint, 0, ratePerMinute) }),
    status: 429,
    code: "TOO_MANY_REQUESTS",
    headers: exhausted(ratePerMinute),
  },
  {
    sent: "the token of a caller over its daily quota",
    requestTo: async (endpoint) => ({ token: await tokenAfter(endpoint, dailyQuota, 0) }),
    status: 429,
    code: "QUOTA_EXCEEDED",
    headers: exhausted(dailyQuota),
  },
];

const ofAll: readonly Case[] = [
  {
    sent: "an x-correlator with a space",
    requestTo: async (endpoint) => ({ token: await tokenFor(endpoint), correlator: "no correlator" }),
    status: 400,
    code: "INVALID_ARGUMENT",
  },
];

const ofPosted: readonly Case[] = [
  {
    sent: "a list as its body",
    requestTo: async (endpoint) => ({ token: await tokenFor(endpoint), body: "[]" }),
    status: 400,
    code: "INVALID_ARGUMENT",
  },
];

beforeAll(useTables);

describe.each((endpoints as readonly Endpoint[]).map((endpoint) => [endpoint.method, endpoint] as const))(
  "%s",
  (method, endpoint) => {
    const cases = [
      ...(endpoint.scope === null ? [] : ofGuarded),
      ...ofAll,
      ...(endpoint.body === undefined ? [] : ofPosted),
    ];
    // API Gateway routes a path with one slash at its end like the path without it: to the authorizer and the function.
    const afterSlash = [...(endpoint.scope === null ? [] : [noToken]), ...ofAll];
    const requests = pathsOf(endpoint).flatMap((path) => [
      ...cases.map((one) => [path, one] as const),
      ...afterSlash.map((one) => [`${path}/`, one] as const),
    ]);

    test.each(requests.map(([path, one]) => [path, one.sent, one.status, one] as const))(
      `${method} %s with %s → %i`,
      async (path, _sent, status, { requestTo, code, headers }) => {
        const { token, correlator = "c-1", body = "not JSON" } = await requestTo(endpoint);

        const answer = await call(path.replaceAll(/\{[^}]+\}/g, "any"), {
          method,
          headers: { "x-correlator": correlator },
          ...(token === undefined ? {} : { token }),
          ...(method === "POST" ? { body } : {}),
        });

        expect(answer).toMatchObject({ status, body: { status, code } });
        expect(Object.fromEntries(answer.headers)).toMatchObject(headers?.(endpoint) ?? {});
        expect(answer.headers.get("x-correlator")).toMatch(
          correlator === "c-1" ? /^c-1$/ : /^[0-9a-f-]{36}$/,
        );
        expect(answer.headers.get("x-request-id")).toBe(answer.headers.get("x-amzn-requestid"));
        if (status !== 429) return;
        expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
        expect(answer.headers.get("retry-after")).toBe(answer.headers.get("x-ratelimit-reset"));
      },
    );
  },
);

/** The head of a response to a request whose header names keep their case; `fetch` sends them in lower case. */
async function headOf(path: string, headers: Readonly<Record<string, string>>) {
  const { hostname, port } = new URL(sharedService.url);
  const sent = request({ hostname, port, path, headers: { ...headers }, agent: false });
  sent.end();
  const [response] = await once(sent, "response");
  response.resume();
  return { status: Number(response.statusCode), headers: response.headers };
}

test("a function answers a request without x-correlator with one of its own, and echoes X-CORRELATOR", async () => {
  const made = await headOf("/.well-known/jwks.json", {});
  expect(made).toMatchObject({
    status: 200,
    headers: { "x-correlator": expect.stringMatching(/^[0-9a-f-]{36}$/) },
  });
  const { headers } = await headOf("/.well-known/jwks.json", { "X-CORRELATOR": "c-2" });
  expect(headers["x-correlator"]).toBe("c-2");
});

// A mapping of API Gateway's own responses names the header in one case, and has no conditions.
test.each([
  ["/nowhere", 404],
  ["/.well-known/jwks.json//", 404],
  ["/qualityondemand/qos-profiles/QOS_E", 401],
])(
  "API Gateway answers %s with %i, and with an x-correlator only if one in lower case came",
  async (path, status) => {
    expect(await headOf(path, { "x-correlator": "c-3" })).toMatchObject({
      status,
      headers: { "x-correlator": "c-3", "x-request-id": expect.stringMatching(/^[0-9a-f-]{36}$/) },
    });
    for (const headers of [{}, { "X-Correlator": "c-3" }] as const) {
      expect((await headOf(path, headers)).headers).not.toHaveProperty("x-correlator");
    }
  },
);
