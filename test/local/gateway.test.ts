import { beforeAll, expect, test } from "vitest";
import { authorizer } from "../../infra/gateway.ts";
import { incomingRequest } from "../../shared/http/event.ts";
import { readDeclarations } from "../../tools/local/declared/declarations.ts";
import { InvocationError, throttledInvocation } from "../../tools/local/lambda/invocation-error.ts";
import { methodOf, useGateways } from "./sample.ts";

/** The events of the authorizer's function. */
const authorized: { readonly authorizationToken: string; readonly methodArn: string }[] = [];

/** An authorizer whose token, as in `Bearer deny.b.c`, says what to answer. */
function authorize(event: (typeof authorized)[number]): unknown {
  authorized.push(event);
  const [what = ""] = /(?<=^Bearer )\w+/.exec(event.authorizationToken) ?? [];
  const failure = { unknown: "Unauthorized", broken: "no keys" }[what];
  if (failure !== undefined) throw new InvocationError("Error", failure);
  if (what === "malformed") return { principalId: "p", policyDocument: { Statement: [{ Effect: "Maybe" }] } };
  const [api] = event.methodArn.split("/GET/");
  const [Effect, path] = what === "deny" ? ["Deny", "*"] : ["Allow", what === "one" ? "guarded/1" : "*"];
  const Statement = [{ Effect, Action: "execute-api:Invoke", Resource: `${api}/GET/${path}` }];
  const context = { calls: authorized.length, flag: true, neededScope: "a:read", challenge: "Bearer error" };
  return { principalId: "caller", policyDocument: { Version: "2012-10-17", Statement }, context };
}

/** Answers with the event. */
const echo = async (id: string, event: unknown) =>
  id === authorizer.functionId
    ? authorize(event as (typeof authorized)[number])
    : { statusCode: 200, body: JSON.stringify(event) };

const paths = ["/things", "/things/special", "/things/{id}", "/things/{id}/parts/{part}"];
const methods = [
  ...paths.map((path) => methodOf(path)),
  methodOf("/things", { verb: "POST" }),
  methodOf("/guarded/{id}", { scope: "a:read" }),
  methodOf("/other/{id}", { scope: "b:read" }),
];

const open = useGateways();
let gateway: Awaited<ReturnType<typeof open>>;
beforeAll(async () => {
  gateway = await open({ methods }, { invoke: echo });
});

/** A request's event, or the error that is answered. */
async function answerTo(...request: Parameters<typeof gateway.send>) {
  const { status, headers, body } = await gateway.send(...request);
  return { status, headers, body: body === "" ? undefined : JSON.parse(body) };
}

test.each([
  ["/things/special", "/things/special", null],
  ["/things/other", "/things/{id}", { id: "other" }],
  ["/things/a%2Fb%20c", "/things/{id}", { id: "a%2Fb%20c" }],
  ["/things/special/parts/2", "/things/{id}/parts/{part}", { id: "special", part: "2" }],
  ["/things/", "/things", null],
  ["/things/1/?a=1", "/things/{id}", { id: "1" }],
  ["http://127.0.0.1/things?a=1", "/things", null],
])(
  "GET %s → its function gets the resource %s with the parameters %j",
  async (target, resource, pathParameters) => {
    const path = target.replace(/^http:..[^/]*|\?.*/g, "");
    expect((await answerTo(target)).body).toMatchObject({ resource, pathParameters, path });
  },
);

test.each([
  ["GET", "/nowhere"],
  ["GET", "/things//"],
  ["GET", "//things"],
  ["GET", "/things/1/parts/"],
  ["DELETE", "/things/1"],
  ["HEAD", "/things"],
  ["OPTIONS", "*"],
])("%s %s, which is not declared → 404 with the correlator as it was sent", async (method, path) => {
  const answer = await answerTo(path, { method, headers: { "x-correlator": "abc" } });
  expect(answer).toMatchObject({ status: 404, headers: { "x-correlator": "abc" } });
  expect(answer.body?.code).toBe(method === "HEAD" ? undefined : "NOT_FOUND");
});

test("a request → its function gets who sent what to which host, every value decoded, and no header of the connection", async () => {
  const headers = { "X-Own": ["1", "2"], "user-agent": "test", te: "trailers" };
  const { body: event } = await answerTo("/things?a=1&a=2%20x&b", { headers });
  expect(event).toMatchObject({
    httpMethod: "GET",
    body: null,
    isBase64Encoded: false,
    stageVariables: null,
  });
  expect(event.queryStringParameters).toEqual({ a: "2 x", b: "" });
  expect(event.multiValueQueryStringParameters).toEqual({ a: ["1", "2 x"], b: [""] });
  expect(event.multiValueHeaders).toMatchObject({ "X-Own": ["1", "2"], "X-Forwarded-For": ["127.0.0.1"] });
  expect(event.headers).not.toHaveProperty("te");
  expect(event.requestContext).toMatchObject({
    domainName: new URL(gateway.url).host,
    identity: { sourceIp: "127.0.0.1", userAgent: "test" },
    requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    resourcePath: "/things",
    stage: "live",
  });
});

test.each([
  [undefined, (url: string) => url],
  ["https://there.example", () => "https://there.example"],
  ["https://there.example:8443", () => "https://there.example:8443"],
])(
  "with --public-url %s its function names that address, or the one that was asked, whatever forwarded headers say",
  async (named, addressOf) => {
    const publicUrl = named === undefined ? undefined : new URL(named);
    const { send, url } = await open({ methods }, { invoke: echo, publicUrl });
    const headers = { "x-forwarded-host": "evil.example", "x-forwarded-proto": "https", forwarded: "host=e" };
    const { body } = await send("/things", { headers });
    expect(incomingRequest(JSON.parse(body)).address).toBe(addressOf(url));
  },
);

test("a body of any type → its function gets it as base64", async () => {
  const headers = { "content-type": "application/octet-stream; x=y" };
  const answer = await answerTo("/things", { method: "POST", body: '{"é":1}', headers });
  expect(answer.body).toMatchObject({ body: "eyLDqSI6MX0=", isBase64Encoded: true });
});

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

test.each(["", "Basic x", "Bearer a.b"])(
  "the authorization %j → 401, and no authorizer is asked",
  async (sent) => {
    const before = authorized.length;
    const answer = await answerTo("/guarded/1", { headers: { authorization: sent } });
    const headers = { "www-authenticate": "Bearer" };
    expect(answer).toMatchObject({ status: 401, headers, body: { code: "UNAUTHENTICATED" } });
    expect(authorized).toHaveLength(before);
  },
);

test("a token is allowed → the function gets the authorizer's context as strings", async () => {
  const { body: event } = await answerTo("/guarded/1", bearer("context.b.c"));
  const strings = { principalId: "caller", calls: expect.stringMatching(/^\d+$/), flag: "true" };
  expect(event.requestContext.authorizer).toMatchObject(strings);
  const methodArn = "arn:aws:execute-api:eu-west-1:000000000000:localapi00/live/GET/guarded/1";
  expect(authorized.at(-1)).toMatchObject({ type: "TOKEN", methodArn });
});

test("four requests with one token → the authorizer is asked once for each scope, and its policy judges each path", async () => {
  const before = authorized.length;
  const statuses: unknown[] = [];
  for (const path of ["/guarded/1", "/guarded/1", "/guarded/2", "/other/1"]) {
    statuses.push((await gateway.send(path, bearer("one.b.c"))).status);
  }
  expect(statuses).toEqual([200, 200, 403, 403]);
  expect(authorized).toHaveLength(before + 2);
});

test.each([
  ["deny", 403, "PERMISSION_DENIED", "Bearer error"],
  ["unknown", 401, "UNAUTHENTICATED", "Bearer"],
  ["broken", 503, "UNAVAILABLE", undefined],
  ["malformed", 503, "UNAVAILABLE", undefined],
])(
  "the authorizer's answer to %s.b.c → %i %s with the challenge %s",
  async (what, status, code, challenge) => {
    const { headers, ...answer } = await answerTo("/guarded/1", bearer(`${what}.b.c`));
    expect(answer).toMatchObject({ status, body: { code } });
    expect(headers["www-authenticate"]).toBe(challenge);
    if (status === 403) expect(answer.body.message).toBe("The access token lacks the scope a:read.");
  },
);

test("Lambda throttles a function or its authorizer → every method of the service answers 503 with Retry-After 5", async () => {
  const { api } = readDeclarations({});
  const throttle = () => Promise.reject(new InvocationError(throttledInvocation, "Rate Exceeded."));
  const { send } = await open(api, { invoke: throttle, stream: throttle });
  const answers = api.methods.map(async ({ path, verb }) => {
    const { status, headers } = await send(path.replaceAll(/[{}]/g, ""), {
      method: verb,
      ...bearer("a.b.c"),
    });
    return `${status} ${headers["retry-after"]}`;
  });
  expect(new Set(await Promise.all(answers))).toEqual(new Set(["503 5"]));
});

test("a function answers after the integration's time → 504, and 200 where a busy machine is given more of it", async () => {
  const slow = () => new Promise((resolve) => setTimeout(() => resolve({ statusCode: 200 }), 100));
  const statusWith = async (deadlineFactor: number) => {
    const { send } = await open({ methods }, { invoke: slow, deadlineFactor });
    return (await send("/things")).status;
  };
  expect([await statusWith(0.001), await statusWith(1)]).toEqual([504, 200]);
});

const tooLarge = () => Promise.reject(new InvocationError("RequestEntityTooLargeException", "large"));

test.each([
  ["a body of more than 10 MB", "x".repeat(10_485_761), echo],
  ["an event of more than the 6 MB that a function takes", "x", tooLarge],
])("%s → 400 that says so", async (_, body, invoke) => {
  const { send } = await open({ methods }, { invoke });
  const answer = await send("/things", { method: "POST", body });
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.body).message).toBe("The body is too large.");
});

test("the gateway is given another API → it answers the next request by that one", async () => {
  const own = await open({ methods }, { invoke: echo });
  own.gateway.serve({ ...readDeclarations({}).api, methods: [methodOf("/new")] });
  expect([(await own.send("/new")).status, (await own.send("/things")).status]).toEqual([200, 404]);
});
