import { beforeAll, expect, test } from "vitest";
import { readDeclarations } from "../../tools/local/declared/declarations.ts";
import { useGateways } from "./sample.ts";

const open = useGateways();
let send: Awaited<ReturnType<typeof open>>["send"];
beforeAll(async () => {
  ({ send } = await open(readDeclarations({}).api));
});

const path = "/numberrecycling/check";
const own = { origin: "http://localhost:5173", "x-correlator": "abc" };
const isRead = { "access-control-allow-origin": own.origin, vary: "origin" };

test("DELETE of a path that takes POST → 405 that names POST, with the correlator that was sent", async () => {
  const { status, headers, body } = await send(path, { method: "DELETE", headers: own });
  const message = "This path takes POST only.";
  expect({ status, ...JSON.parse(body) }).toEqual({ status: 405, code: "METHOD_NOT_ALLOWED", message });
  expect(headers).toMatchObject({
    ...isRead,
    allow: "POST",
    "cache-control": "no-store",
    "x-correlator": "abc",
  });
});

test("GET with a malformed correlator → 405 with the request's id as the correlator", async () => {
  const { status, headers } = await send(path, { headers: { "x-correlator": "a b" } });
  expect(status).toBe(405);
  expect(headers["x-correlator"]).toBe(headers["x-request-id"]);
});

test("a preflight of an allowed origin → 204 with the verbs and headers that its pages may send for two hours", async () => {
  const { status, headers, body } = await send(path, { method: "OPTIONS", headers: own });
  expect({ status, body }).toEqual({ status: 204, body: "" });
  expect(headers).toMatchObject({
    ...isRead,
    "access-control-allow-headers": "authorization,content-type,x-correlator",
    "access-control-allow-methods": "POST",
    "access-control-max-age": "7200",
  });
});

test.each(["OPTIONS", "PUT"])(
  "%s of another origin → nothing lets its pages read the answer",
  async (method) => {
    const { headers } = await send(path, { method, headers: { origin: "https://else.example" } });
    expect(Object.keys(headers).join()).not.toContain("access-control");
    expect(headers.vary).toBe("origin");
  },
);

test("PUT with a body of type image/png → 400, as API Gateway answers", async () => {
  const headers = { "content-type": "image/png" };
  expect((await send(path, { method: "PUT", body: "x", headers })).status).toBe(400);
});
