import { createServer } from "node:http";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { keysOf } from "../../functions/oauth2/client-keys.ts";
import { listen } from "../../tools/local/servers/listening-server.ts";
import { countingServer, ellipticKey } from "../support/signed.ts";

const { jwk } = ellipticKey("remote-1");
const keySet = JSON.stringify({ keys: [jwk] });
const client = { clientId: "remote", scopes: [], grants: ["client_credentials" as const] };
const temporaryError = { code: "UNAVAILABLE", details: { message: expect.stringContaining("keys") } };

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
  ["a 503", 503, ""],
  ["a 404", 404, ""],
  ["text that is no JSON", 200, "<html>"],
  ["JSON that is no key set", 200, '{"keys":[]}'],
  ["more than 64 KiB", 200, keySet.padEnd(65_537)],
])("keysOf throws a temporary error for an address that answers with %s", async (_, status, body) => {
  const server = await countingServer((_request, response) => response.writeHead(status).end(body));

  const keys = keysOf({ ...client, jwksUri: `${server.url}/keys` });

  await expect(keys).rejects.toMatchObject(temporaryError);
  await server.close();
});

test("keysOf throws a temporary error for an address where nobody listens", async () => {
  const server = await listen(createServer(), 0);
  await server.close();

  await expect(keysOf({ ...client, jwksUri: server.url })).rejects.toMatchObject(temporaryError);
});

test("keysOf asks an address that failed again after five seconds, and keeps the keys that it has then", async () => {
  let isDown = true;
  const server = await countingServer((_, response) => response.writeHead(isDown ? 503 : 200).end(keySet));
  const read = () => keysOf({ ...client, jwksUri: `${server.url}/keys` });

  await expect(read()).rejects.toMatchObject(temporaryError);
  isDown = false;
  vi.advanceTimersByTime(4_999);
  await expect(read()).rejects.toMatchObject(temporaryError);
  expect(server.requests()).toBe(1);
  vi.advanceTimersByTime(1);
  await expect(read()).resolves.toEqual([jwk]);
  isDown = true;
  vi.advanceTimersByTime(59_999);
  await expect(read()).resolves.toEqual([jwk]);
  expect(server.requests()).toBe(2);
  await server.close();
});

test("keysOf finds no keys at an address that it must not ask", async () => {
  await expect(keysOf({ ...client, jwksUri: "http://169.254.169.254/keys" })).resolves.toEqual([]);
});
