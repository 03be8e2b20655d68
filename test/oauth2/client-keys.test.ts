import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { keysOf } from "../../functions/oauth2/client-keys.ts";
import { listen } from "../../tools/local/servers/listening-server.ts";
import { ellipticKey, serverOfTest } from "../support/signed.ts";

const { jwk } = ellipticKey("remote-1");
const keySet = JSON.stringify({ keys: [jwk] });
const client = { clientId: "remote", scopes: [], grants: ["client_credentials" as const] };
const unknown = undefined;

beforeEach(() => {
  vi.stubEnv("SINK_ALLOWED_NETWORKS", "127.0.0.1/32:1024-65535");
  vi.stubEnv("CACHE_SECONDS", "60");
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

test.each([
  ["a 503", 503, "", unknown],
  ["a 429", 429, "", unknown],
  ["a 404", 404, "", []],
  ["a redirect", 302, "", []],
  ["text that is no JSON", 200, "<html>", []],
  ["JSON that is no key set", 200, '{"keys":[]}', []],
  ["more than 64 KiB", 200, keySet.padEnd(65_537), []],
])(
  "the token endpoint tells a failure that may pass from an address that is wrong, which answers with %s",
  async (_, status, body, expected) => {
    const server = await serverOfTest((_request, response) => response.writeHead(status).end(body));

    expect(await keysOf({ ...client, jwksUri: `${server.url}/keys` }, "remote-1")).toEqual(expected);
  },
);

test("the token endpoint does not know the keys of an address where nobody listens", async () => {
  const server = await listen(createServer(), 0);
  await server.close();

  expect(await keysOf({ ...client, jwksUri: server.url }, "remote-1")).toBe(unknown);
});

test("the token endpoint asks an address that failed again after five seconds, and keeps the keys that it has then", async () => {
  let isDown = true;
  const server = await serverOfTest((_, response) => response.writeHead(isDown ? 503 : 200).end(keySet));
  const read = () => keysOf({ ...client, jwksUri: `${server.url}/keys` }, "remote-1");

  expect(await read()).toBe(unknown);
  isDown = false;
  vi.advanceTimersByTime(4_999);
  expect(await read()).toBe(unknown);
  expect(server.requests()).toBe(1);
  vi.advanceTimersByTime(1);
  expect(await read()).toEqual([jwk]);
  isDown = true;
  vi.advanceTimersByTime(59_999);
  expect(await read()).toEqual([jwk]);
  expect(server.requests()).toBe(2);
});

test.each([200, 404, 503])(
  "the token endpoint asks an address that answers %i at most once in five seconds, also with CACHE_SECONDS 0",
  async (status) => {
    vi.stubEnv("CACHE_SECONDS", "0");
    const server = await serverOfTest((_, response) => response.writeHead(status).end(keySet));
    const read = (kid: string) => keysOf({ ...client, jwksUri: `${server.url}/keys` }, kid);

    for (const kid of ["remote-1", "unknown", "remote-1"]) await read(kid);
    vi.advanceTimersByTime(4_999);
    await read("unknown");
    expect(server.requests()).toBe(1);
    vi.advanceTimersByTime(1);
    await read("remote-1");
    expect(server.requests()).toBe(2);
  },
);

test("the token endpoint refuses a whole key set with an RSA key of exponent 1", async () => {
  const { n } = generateKeyPairSync("rsa", { modulusLength: 2_048 }).publicKey.export({ format: "jwk" });
  const keys = [jwk, { kty: "RSA", kid: "weak", n, e: "AQ" }];
  const server = await serverOfTest((_request, response) => response.end(JSON.stringify({ keys })));
  expect(await keysOf({ ...client, jwksUri: `${server.url}/keys` }, "remote-1")).toEqual([]);
});

test("the token endpoint reads keys that begin with a byte order mark", async () => {
  const server = await serverOfTest((_request, response) => response.end(`\uFEFF${keySet}`));
  expect(await keysOf({ ...client, jwksUri: `${server.url}/keys` }, "remote-1")).toEqual([jwk]);
});

test("the token endpoint keeps keys for ten minutes after their address fails, and knows no others meanwhile", async () => {
  let status = 200;
  const server = await serverOfTest((_, response) => response.writeHead(status).end(keySet));
  const read = (kid?: string) => keysOf({ ...client, jwksUri: `${server.url}/keys` }, kid);

  await read();
  status = 503;
  vi.advanceTimersByTime(3_600_000);
  expect(await read("remote-1")).toEqual([jwk]);
  expect(await read()).toEqual([jwk]);
  expect(await read("remote-2")).toBe(unknown);
  vi.advanceTimersByTime(599_999);
  expect(await read("remote-1")).toEqual([jwk]);
  vi.advanceTimersByTime(5_000);
  expect(await read("remote-1")).toBe(unknown);
  status = 200;
  vi.advanceTimersByTime(5_000);
  expect(await read("remote-1")).toEqual([jwk]);
  status = 404;
  vi.advanceTimersByTime(60_000);
  expect(await read("remote-1")).toEqual([]);
});

test("the token endpoint finds no keys at an address that it must not ask", async () => {
  expect(await keysOf({ ...client, jwksUri: "http://169.254.169.254/keys" }, undefined)).toEqual([]);
});
