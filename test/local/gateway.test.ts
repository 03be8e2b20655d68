import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { isWhole } from "../support/sample.ts";
import { useSample } from "./started-sample.ts";

const service = useSample();

const toldSchema = z.object({
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
  return toldSchema.parse(JSON.parse(body));
}

const guarded = (token: string, id = "1") =>
  send(`/guarded/${id}`, { headers: { authorization: `Bearer ${token}` } });

describe("routing", () => {
  it("prefers a fixed segment over a parameter", async () => {
    expect((await reported("/things/special")).event.resource).toBe("/things/special");
    expect((await reported("/things/other")).event.resource).toBe("/things/{id}");
  });

  it("leaves path and parameters percent-encoded, with an encoded slash inside its segment", async () => {
    const { event } = await reported("/things/a%2Fb%20c");
    expect(event.path).toBe("/things/a%2Fb%20c");
    expect(event.pathParameters).toEqual({ id: "a%2Fb%20c" });
  });

  it("gives every parameter of a path", async () => {
    const { event } = await reported("/things/1/parts/2");
    expect(event.pathParameters).toEqual({ id: "1", part: "2" });
  });

  it("takes a path with one slash at its end for the same route, and leaves the slash in the path", async () => {
    expect((await reported("/things/")).event).toMatchObject({ resource: "/things", path: "/things/" });
    const { event } = await reported("/things/1/?a=1");
    expect(event).toMatchObject({
      resource: "/things/{id}",
      path: "/things/1/",
      pathParameters: { id: "1" },
    });
  });

  it.each([
    ["GET", "/nowhere"],
    ["GET", "/things//"],
    ["GET", "/things/1//"],
    ["GET", "//things"],
    ["GET", "/things/1/parts/"],
    ["GET", "/"],
    ["DELETE", "/things/1"],
    ["HEAD", "/things"],
    ["OPTIONS", "*"],
  ])("answers %s %s, which is not declared, with the response for it", async (method, target) => {
    const { status, body, headers } = await send(target, { method, headers: { "x-correlator": "abc" } });
    expect(status).toBe(404);
    expect(headers["x-correlator"]).toBe("abc");
    expect(body).toBe(method === "HEAD" ? "" : '{"code":"NOT_FOUND"}');
  });
});

describe("event", () => {
  it("has null for what the request does not have", async () => {
    const { event } = await reported("/things");
    expect(event).toMatchObject({
      body: null,
      isBase64Encoded: false,
      pathParameters: null,
      queryStringParameters: null,
      multiValueQueryStringParameters: null,
      stageVariables: null,
    });
    expect(event.requestContext).not.toHaveProperty("authorizer");
  });

  it("decodes the query string and keeps every value", async () => {
    const { event } = await reported("/things?a=1&a=2%20x&b");
    expect(event.queryStringParameters).toEqual({ a: "2 x", b: "" });
    expect(event.multiValueQueryStringParameters).toEqual({ a: ["1", "2 x"], b: [""] });
  });

  it("keeps the case of header names, and of repeated headers the last value and all values", async () => {
    const { event } = await reported("/things", { headers: { "X-MiXed": ["one", "two"] } });
    expect(event.headers["X-MiXed"]).toBe("two");
    expect(event.multiValueHeaders["X-MiXed"]).toEqual(["one", "two"]);
  });

  it("describes the request in its context", async () => {
    const { event } = await reported("/things/7", { headers: { "user-agent": "test" } });
    expect(event.requestContext).toMatchObject({
      accountId: "000000000000",
      domainName: new URL(service().url).host,
      httpMethod: "GET",
      identity: { sourceIp: "127.0.0.1", userAgent: "test" },
      path: "/things/7",
      protocol: "HTTP/1.1",
      requestTime: expect.stringMatching(/^\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000$/),
      resourcePath: "/things/{id}",
      stage: "test",
    });
  });

  it("names its port with the domain, also when the caller leaves it out", async () => {
    const { event } = await reported("/things", { headers: { host: "here.example" } });
    expect(event.requestContext).toMatchObject({ domainName: `here.example:${new URL(service().url).port}` });
  });

  it("carries every body as base64, whatever its type", async () => {
    const post = async (type: string, body: Uint8Array<ArrayBuffer>) => {
      const response = await fetch(`${service().url}/things`, {
        method: "POST",
        body,
        headers: { "content-type": type },
      });
      return toldSchema.parse(await response.json()).event;
    };
    const asText = await post("application/json", new TextEncoder().encode('{"é":1}'));
    expect(asText).toMatchObject({ body: "eyLDqSI6MX0=", isBase64Encoded: true });
    const asBytes = await post("application/octet-stream; x=y", new Uint8Array([0, 255]));
    expect(asBytes).toMatchObject({ body: "AP8=", isBase64Encoded: true });
  });
});

describe("authorizer", () => {
  it.each([[{}], [{ authorization: "" }], [{ authorization: "Basic x" }]])(
    "refuses %j without a call, with the response for it",
    async (headers) => {
      const { status, headers: received, body } = await send("/guarded/1", { headers });
      expect(status).toBe(401);
      expect(received["www-authenticate"]).toBe("Bearer");
      expect(received).not.toHaveProperty("x-correlator");
      expect(body).toBe('{"code":"UNAUTHENTICATED"}');
    },
  );

  it("hands its context to the function as strings", async () => {
    const { event } = toldSchema.parse(JSON.parse((await guarded("context")).body));
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

  it("is asked once a token, and its policy is evaluated for each method", async () => {
    const calls = async (token: string) =>
      toldSchema.parse(JSON.parse((await guarded(token)).body)).event.requestContext.authorizer?.calls;
    const first = await calls("one");
    expect(await calls("one")).toBe(first);
    expect((await guarded("one", "2")).status).toBe(403);
    expect(await calls("all other")).not.toBe(first);
  });

  it.concurrent.each([
    ["deny", 403, { message: "User is not authorized to access this resource" }],
    ["unknown", 401, { code: "UNAUTHENTICATED" }],
    ["broken", 500, { code: "INTERNAL" }],
    ["malformed", 500, { code: "INTERNAL" }],
    ["hang", 500, { code: "INTERNAL" }],
  ])("that answers %s means %i", async (token, status, body) => {
    const answer = await guarded(token);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body)).toMatchObject(body);
  });
});

describe("function", () => {
  const failures = ["throw", "exit", "uncaught", "block", "nothing", "text", "status", "header", "large"];
  // A loop without end keeps a processor busy until its time is over.
  it.concurrent.each([...failures, ...(isWhole ? ["spin"] : [])])(
    "that fails by %s is 502, says nothing about the inside, and the next event succeeds",
    async (how) => {
      const { status, headers, body } = await send(`/things?do=${how}`);
      expect(status).toBe(502);
      expect(body).toBe('{"code":"INTERNAL"}');
      expect(headers["x-amzn-requestid"]).toMatch(/^[0-9a-f-]{36}$/);
      expect((await send("/things")).status).toBe(200);
    },
  );

  it("that is slower than the integration's time-out is 504", async () => {
    expect((await send("/brief?do=sleep")).status).toBe(504);
  });

  it("cannot set WWW-Authenticate but can set several cookies", async () => {
    const { status, headers } = await send("/things?do=unauthenticated");
    expect(status).toBe(401);
    expect(headers).not.toHaveProperty("www-authenticate");
    expect(headers["x-amzn-remapped-www-authenticate"]).toBe("Bearer");
    expect(headers["set-cookie"]).toEqual(["a=1", "b=2"]);
    expect(headers["content-type"]).toBe("application/json");
  });

  it("sends bytes, whatever its client accepts", async () => {
    const response = await fetch(`${service().url}/things?do=bytes`, { headers: { accept: "text/plain" } });
    expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.from([0, 255, 1]));
  });

  it("runs concurrent events in threads of their own and uses warm threads again", async () => {
    let threads: readonly unknown[] = [];
    // The first event may be answered, and its thread idle again, before another has started.
    await expect
      .poll(async () => {
        const both = await Promise.all([reported("/things?do=sleep"), reported("/things?do=sleep")]);
        threads = both.map(({ threadId }) => threadId);
        return new Set(threads).size;
      })
      .toBe(2);
    const next = await reported("/things");
    expect(threads).toContain(next.threadId);
    expect(next.count).toBeGreaterThan(1);
  });

  it("answers more events at once than it has threads for", async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => send("/things?do=sleep")));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
  });
});

describe("HTTP", () => {
  it("refuses a body over 10 MB", async () => {
    const response = await fetch(`${service().url}/things`, {
      method: "POST",
      body: new Uint8Array(10_485_761),
    });
    expect(response.status).toBe(413);
  });

  it("refuses an event over 6 MB, which no function can take", async () => {
    const response = await fetch(`${service().url}/things`, { method: "POST", body: "x".repeat(6_400_000) });
    expect(response.status).toBe(413);
  });

  it.each([
    ["NONSENSE\r\n\r\n", 400],
    ["GET /things HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400],
    [`GET /things HTTP/1.1\r\nHost: x\r\nX-Long: ${"x".repeat(20_000)}\r\n\r\n`, 400],
  ])("survives what is not HTTP: %#", async (bytes, status) => {
    const { hostname, port } = new URL(service().url);
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    expect(await text(socket)).toMatch(new RegExp(`^HTTP/1.1 ${status} [^]*x-amzn-requestid: `));
    expect((await send("/things")).status).toBe(200);
  });

  it("survives a client that leaves in the middle of its request", async () => {
    const { hostname, port } = new URL(service().url);
    const socket = connect(Number(port), hostname);
    socket.write("POST /things HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf");
    await once(socket, "connect");
    socket.destroy();
    expect((await send("/things")).status).toBe(200);
  });
});
