import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createClient, login, ServiceError } from "../../client/index.ts";

const start = Date.parse("2026-11-22T10:00:00Z");
const baseUrl = "https://service.example/live";
const credentials = { emailaddress: "app@example.com", password: "correct horse battery staple" };

let requests: { readonly url: string; readonly authorization: string | null; readonly body: string }[];
/** While it is set, the service refuses with this status. */
let refusedWith: number | undefined;

beforeEach(() => {
  vi.useFakeTimers({ now: start });
  requests = [];
  refusedWith = undefined;
});
afterEach(() => vi.useRealTimers());

/** A service whose tokens are valid for an hour; its clock is a day behind. */
async function fetch(request: Request): Promise<Response> {
  const { url, headers } = request;
  requests.push({ url, authorization: headers.get("authorization"), body: await request.text() });
  if (refusedWith !== undefined) {
    return Response.json(
      { status: refusedWith, code: "UNAUTHENTICATED", message: "No." },
      { status: refusedWith },
    );
  }
  return url.endsWith("/authenticate")
    ? Response.json({ Data: { access_token: tokenAt(Date.now() / 1_000 - 86_400) } })
    : Response.json({ name: "QOS_E" });
}

function tokenAt(iat: number): string {
  const payload = JSON.stringify({ iat, exp: iat + 3_600, sub: "?>ÿ".repeat(9) });
  return `header.${Buffer.from(payload).toString("base64url")}.signature`;
}

test("login requests a token at the first request, with nothing but the credentials", async () => {
  const client = createClient({ baseUrl, fetch, token: login({ baseUrl, fetch, ...credentials }) });
  expect(requests).toEqual([]);
  await client.GET("/qualityondemand/qos-profiles/{name}", { params: { path: { name: "QOS_E" } } });
  expect(requests).toEqual([
    { url: `${baseUrl}/v3/profile/authenticate`, authorization: null, body: JSON.stringify(credentials) },
    {
      url: `${baseUrl}/qualityondemand/qos-profiles/QOS_E`,
      authorization: `Bearer ${tokenAt(start / 1_000 - 86_400)}`,
      body: "",
    },
  ]);
});

test("login sends one request when several calls need a token at the same time", async () => {
  const token = login({ baseUrl, fetch, ...credentials });
  const tokens = await Promise.all([token(), token(), token()]);
  expect(new Set(tokens).size).toBe(1);
  expect(requests.length).toBe(1);
});

test("login renews a token once, half a minute before it expires", async () => {
  const token = login({ baseUrl, fetch, ...credentials });
  await token();
  vi.setSystemTime(start + 3_569_999);
  await token();
  expect(requests.length).toBe(1);
  vi.setSystemTime(start + 3_570_000);
  const renewed = await Promise.all([token(), token()]);
  expect(renewed).toEqual(Array(2).fill(tokenAt(start / 1_000 + 3_570 - 86_400)));
  expect(requests.length).toBe(2);
});

test("login throws a refusal to every waiting call and tries again for the next one", async () => {
  const token = login({ baseUrl, fetch, ...credentials });
  refusedWith = 401;
  for (const result of await Promise.allSettled([token(), token()])) {
    expect(result).toMatchObject({
      status: "rejected",
      reason: { name: "ServiceError", status: 401, message: "No." },
    });
    expect(result.status === "rejected" && result.reason).toBeInstanceOf(ServiceError);
  }
  expect(requests.length).toBe(1);
  refusedWith = undefined;
  expect(await token()).toBe(tokenAt(start / 1_000 - 86_400));
});
