import { once } from "node:events";
import { request } from "node:http";
import { describe, expect, inject, test } from "vitest";

/** The head of a response to a request whose header names keep their case; `fetch` sends them in lower case. */
async function headOf(path: string, headers: Readonly<Record<string, string>>) {
  const { hostname, port } = new URL(inject("url"));
  const sent = request({ hostname, port, path, headers: { ...headers }, agent: false });
  sent.end();
  const [response] = await once(sent, "response");
  response.resume();
  return { status: Number(response.statusCode), headers: response.headers };
}

const byFunction = ["answered by a function", "/.well-known/jwks.json", 200] as const;
const byGateway = [
  ["a route that does not exist", "/nowhere", 404],
  ["a request without a token", "/qualityondemand/qos-profiles/QOS_E", 401],
] as const;

describe.each([byFunction, ...byGateway])("%s", (_, path, status) => {
  test("has the id of the request", async () => {
    const head = await headOf(path, {});
    expect(head.status).toBe(status);
    expect(head.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/);
    expect(head.headers["x-request-id"]).toBe(head.headers["x-amzn-requestid"]);
  });

  test("echoes the correlator", async () => {
    const { headers } = await headOf(path, { "x-correlator": "c-1" });
    expect(headers["x-correlator"]).toBe("c-1");
  });
});

describe("without a correlator", () => {
  test("a function makes one", async () => {
    expect((await headOf(byFunction[1], {})).headers["x-correlator"]).toMatch(/^[0-9a-f-]{36}$/);
  });

  test.each(byGateway)("%s gets none", async (_, path) => {
    expect((await headOf(path, {})).headers).not.toHaveProperty("x-correlator");
  });
});

// API Gateway keeps the case of names. A function reads any; a mapping of a gateway response names one.
describe("X-Correlator", () => {
  test("is echoed by a function", async () => {
    expect((await headOf(byFunction[1], { "X-Correlator": "c-2" })).headers["x-correlator"]).toBe("c-2");
  });

  test.each(byGateway)("%s does not echo it", async (_, path) => {
    expect((await headOf(path, { "X-Correlator": "c-2" })).headers).not.toHaveProperty("x-correlator");
  });
});
