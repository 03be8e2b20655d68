import { once } from "node:events";
import { request } from "node:http";
import { expect, test } from "vitest";
import { sharedService } from "../support/service.ts";

/** The head of a response to a request whose header names keep their case; `fetch` sends them in lower case. */
async function headOf(path: string, headers: Readonly<Record<string, string>>) {
  const { hostname, port } = new URL(sharedService.url);
  const sent = request({ hostname, port, path, headers: { ...headers }, agent: false });
  sent.end();
  const [response] = await once(sent, "response");
  response.resume();
  return { status: Number(response.statusCode), headers: response.headers };
}

const keySet = "/.well-known/jwks.json";
const refused = [
  ["a route that does not exist", "/nowhere", 404],
  ["a request without a token", "/qualityondemand/qos-profiles/QOS_E", 401],
] as const;
const requests = [["a request that a function answers", keySet, 200], ...refused] as const;

test.each(requests)("%s is answered with its request id", async (_, path, status) => {
  const head = await headOf(path, {});

  expect(head.status).toBe(status);
  expect(head.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
  expect(head.headers["x-request-id"]).toBe(head.headers["x-amzn-requestid"]);
});

test.each(requests)("%s is answered with its x-correlator", async (_, path) => {
  const { headers } = await headOf(path, { "x-correlator": "c-1" });

  expect(headers["x-correlator"]).toBe("c-1");
});

test("a function makes an x-correlator for a request without one", async () => {
  expect((await headOf(keySet, {})).headers["x-correlator"]).toMatch(/^[0-9a-f-]{36}$/);
});

test.each(refused)("%s is answered without an x-correlator if it has none", async (_, path) => {
  expect((await headOf(path, {})).headers).not.toHaveProperty("x-correlator");
});

// API Gateway keeps the case of names. A function reads any; a mapping of a gateway response names one.
test("a function echoes X-Correlator in upper case too", async () => {
  expect((await headOf(keySet, { "X-Correlator": "c-2" })).headers["x-correlator"]).toBe("c-2");
});

test.each(refused)("%s is answered without its X-Correlator in upper case", async (_, path) => {
  expect((await headOf(path, { "X-Correlator": "c-2" })).headers).not.toHaveProperty("x-correlator");
});
