import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import * as z from "zod";
import { isWhole } from "../support/sample.ts";
import { useSample } from "./started-sample.ts";

const service = useSample({ allowedHosts: ["here.example"] });

const reportSchema = z.object({
  event: z.looseObject({
    path: z.string(),
    resource: z.string(),
    pathParameters: z.record(z.string(), z.string()).nullable(),
    queryStringParameters: z.record(z.string(), z.string()).nullable(),
    multiValueQueryStringParameters: z.record(z.string(), z.array(z.string())).nullable(),
    headers: z.record(z.string(), z.string()),
    multiValueHeaders: z.record(z.string(), z.array(z.string())),
    body: z.string().nullable(),
    isBase64Encoded: z.boolean(),
    requestContext: z.looseObject({ authorizer: z.record(z.string(), z.unknown()).optional() }),
  }),
  threadId: z.number(),
  count: z.number(),
});

/** Sends the target as it is; fetch would normalize it. */
async function send(
  target: string,
  options: { method?: string; headers?: Record<string, string | string[]> } = {},
) {
  const { hostname, port } = new URL(service().url);
  const request = httpRequest({ hostname, port, path: target, agent: false, ...options });
  request.end();
  const [response] = await once(request, "response");
  return { status: Number(response.statusCode), headers: response.headers, body: await text(response) };
}

/** The report that the sample function returns for a request. */
async function reported(target: string, options: Parameters<typeof send>[1] = {}) {
  const { status, body } = await send(target, options);
  expect(status).toBe(200);
  return reportSchema.parse(JSON.parse(body));
}

const guarded = (token: string, id = "1") =>
  send(`/guarded/${id}`, { headers: { authorization: `Bearer ${token}` } });

test("the gateway prefers a fixed path segment to a parameter", async () => {
  expect((await reported("/things/special")).event.resource).toBe("/things/special");
  expect((await reported("/things/other")).event.resource).toBe("/things/{id}");
});

test("the gateway passes path and parameters percent-encoded and does not split at an encoded slash", async () => {
  const { event } = await reported("/things/a%2Fb%20c");
  expect(event.path).toBe("/things/a%2Fb%20c");
  expect(event.pathParameters).toEqual({ id: "a%2Fb%20c" });
});

test("the gateway routes a path with one trailing slash like the path without it and passes the slash", async () => {
  expect((await reported("/things/")).event).toMatchObject({ resource: "/things", path: "/things/" });
  const { event } = await reported("/things/1/?a=1");
  expect(event).toMatchObject({
    resource: "/things/{id}",
    path: "/things/1/",
    pathParameters: { id: "1" },
  });
});

test.each([
  ["GET", "/nowhere"],
  ["GET", "/things//"],
  ["GET", "/things/1//"],
  ["GET", "//things"],
  ["GET", "/things/1/parts/"],
  ["GET", "/"],
  ["DELETE", "/things/1"],
  ["HEAD", "/things"],
  ["OPTIONS", "*"],
])(
  "the gateway responds with the MISSING_AUTHENTICATION_TOKEN response to undeclared %s %s",
  async (method, target) => {
    const { status, body, headers } = await send(target, { method, headers: { "x-correlator": "abc" } });
    expect(status).toBe(404);
    expect(headers["x-correlator"]).toBe("abc");
    expect(body).toBe(method === "HEAD" ? "" : '{"code":"NOT_FOUND"}');
  },
);

test("the event has the decoded query string with every value of a repeated parameter", async () => {
  const { event } = await reported("/things?a=1&a=2%20x&b");
  expect(event.queryStringParameters).toEqual({ a: "2 x", b: "" });
  expect(event.multiValueQueryStringParameters).toEqual({ a: ["1", "2 x"], b: [""] });
});

test("the event carries a body of any type as base64", async () => {
  const post = async (type: string, body: Uint8Array<ArrayBuffer>) => {
    const response = await fetch(`${service().url}/things`, {
      method: "POST",
      body,
      headers: { "content-type": type },
    });
    return reportSchema.parse(await response.json()).event;
  };
  const asText = await post("application/json", new TextEncoder().encode('{"é":1}'));
  expect(asText).toMatchObject({ body: "eyLDqSI6MX0=", isBase64Encoded: true });
  const asBytes = await post("application/octet-stream; x=y", new Uint8Array([0, 255]));
  expect(asBytes).toMatchObject({ body: "AP8=", isBase64Encoded: true });
});

test.each([[{}], [{ authorization: "" }], [{ authorization: "Basic x" }]])(
  "the gateway responds 401 to %j without a call of the authorizer",
  async (headers) => {
    const { status, headers: received, body } = await send("/guarded/1", { headers });
    expect(status).toBe(401);
    expect(received["www-authenticate"]).toBe("Bearer");
    expect(received).not.toHaveProperty("x-correlator");
    expect(body).toBe('{"code":"UNAUTHENTICATED"}');
  },
);

test("the gateway passes the authorizer's context to the function as strings", async () => {
  const { event } = reportSchema.parse(JSON.parse((await guarded("context")).body));
  expect(event.requestContext.authorizer).toEqual({
    principalId: "caller",
    calls: expect.stringMatching(/^\d+$/),
    flag: "true",
    type: "TOKEN",
    methodArn: expect.stringMatching(
      /^arn:aws:execute-api:eu-west-1:000000000000:[a-z0-9]{10}\/test\/GET\/guarded\/1$/,
    ),
    integrationLatency: expect.any(Number),
  });
});

test("the gateway calls the authorizer once for each token and evaluates its policy for each path", async () => {
  const calls = async (token: string) =>
    reportSchema.parse(JSON.parse((await guarded(token)).body)).event.requestContext.authorizer?.calls;
  const first = await calls("one");
  expect(await calls("one")).toBe(first);
  expect((await guarded("one", "2")).status).toBe(403);
  expect(await calls("all other")).not.toBe(first);
});

test.concurrent.each([
  ["deny", 403, { message: "User is not authorized to access this resource" }],
  ["unknown", 401, { code: "UNAUTHENTICATED" }],
  ["broken", 500, { code: "INTERNAL" }],
  ["malformed", 500, { code: "INTERNAL" }],
  ["hang", 500, { code: "INTERNAL" }],
])("the gateway handles the authorizer's answer %s with status %i", async (token, status, body) => {
  const answer = await guarded(token);
  expect(answer.status).toBe(status);
  expect(JSON.parse(answer.body)).toMatchObject(body);
});

const failures = ["throw", "exit", "uncaught", "block", "nothing", "text", "status", "header", "large"];
// An endless loop keeps a processor busy until the function times out.
test.concurrent.each([...failures, ...(isWhole ? ["spin"] : [])])(
  "the gateway responds 502 without a detail when a function fails by %s, and then serves the next request",
  async (how) => {
    const { status, headers, body } = await send(`/things?do=${how}`);
    expect(status).toBe(502);
    expect(body).toBe('{"code":"INTERNAL"}');
    expect(headers["x-amzn-requestid"]).toMatch(/^[0-9a-f-]{36}$/);
    expect((await send("/things")).status).toBe(200);
  },
);

test("the gateway responds 504 when a function exceeds the integration's time-out", async () => {
  expect((await send("/brief?do=sleep")).status).toBe(504);
});

test("the gateway responds 413 to a body over 10 MB", async () => {
  const response = await fetch(`${service().url}/things`, {
    method: "POST",
    body: new Uint8Array(10_485_761),
  });
  expect(response.status).toBe(413);
});

test("the gateway responds 413 to a request whose event exceeds the 6 MB that a function can take", async () => {
  const response = await fetch(`${service().url}/things`, { method: "POST", body: "x".repeat(6_400_000) });
  expect(response.status).toBe(413);
});

test("the gateway answers the next request after a client disconnected in the middle of its own", async () => {
  const { hostname, port } = new URL(service().url);
  const socket = connect(Number(port), hostname);
  socket.write(`POST /things HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Length: 100\r\n\r\nhalf`);
  await once(socket, "connect");
  socket.destroy();
  expect((await send("/things")).status).toBe(200);
});
