import { createServer } from "node:http";
import { json, text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { type ListeningServer, listen } from "../../tools/local/servers/listening-server.ts";

const arn = (name: string, number: number) =>
  `arn:aws:lambda:eu-west-1:123456789012:function:${name}:${number}`;

interface Answer {
  readonly functionError?: string;
  readonly payload: string;
}

/** What each version answers, one after the other; the last one again and again. */
let answers: Readonly<Record<string, Answer[]>>;
let invoked: string[];
let result: unknown;
let server: ListeningServer;

beforeAll(async () => {
  const http = createServer(async (request, response) => {
    if (request.method === "PUT") {
      result = await json(request);
      response.end();
      return;
    }
    await text(request);
    const [, name = "", qualifier = ""] =
      /functions\/(?:.*:)?([^:/]+):(\d+)\//.exec(decodeURIComponent(request.url ?? "")) ?? [];
    invoked.push(`${name}:${qualifier}`);
    const left = answers[name] ?? [];
    const { functionError, payload = "null" } = (left.length > 1 ? left.shift() : left[0]) ?? {};
    const headers = functionError === undefined ? {} : { "x-amz-function-error": functionError };
    response.writeHead(200, headers).end(payload);
  });
  server = await listen(http, 0);
  const shell = { AWS_REGION: "eu-west-1", AWS_ACCESS_KEY_ID: "local", AWS_SECRET_ACCESS_KEY: "local" };
  for (const [name, value] of Object.entries(shell)) vi.stubEnv(name, value);
  vi.stubEnv("AWS_ENDPOINT_URL_LAMBDA", server.url);
});
afterAll(() => server.close());
beforeEach(() => {
  answers = {};
  invoked = [];
  result = undefined;
});

/** Whose tokens a deployment accepts, and those that it no longer does on purpose. */
interface Issuers {
  readonly Accepted: readonly { readonly Issuer: string; readonly Audiences: readonly string[] }[];
  readonly Retired?: readonly string[];
}

/** Deploys versions over others, without pauses between attempts; returns what CloudFormation is told. */
async function deploy(
  versions: readonly string[],
  before: readonly string[] | undefined,
  atOnce = false,
  issuers: { readonly now?: Issuers; readonly before?: Issuers } = {},
) {
  // The client reads its address when it is made.
  const { checkRelease } = await import("../../functions/releases/check.ts");
  const event = {
    RequestType: before === undefined ? "Create" : "Update",
    ResponseURL: `${server.url}/answer`,
    StackId: "stack",
    RequestId: "request",
    LogicalResourceId: "Checked",
    ...(before === undefined ? {} : { PhysicalResourceId: "Checked" }),
    ResourceProperties: {
      ServiceToken: "x",
      Versions: versions,
      Scopes: "qos-profiles:read",
      AtOnce: String(atOnce),
      Accepted: [],
      Retired: [],
      ...issuers.now,
    },
    ...(before === undefined ? {} : { OldResourceProperties: { Versions: before, ...issuers.before } }),
  };
  await checkRelease(event, async () => undefined);
  return result;
}

const before = [arn("one", 1), arn("two", 4)];
const versions = [arn("one", 2), arn("two", 4)];

test("a release whose new versions answer the probe is released", async () => {
  answers = { one: [{ payload: '{"statusCode":404}' }] };
  expect(await deploy(versions, before)).toMatchObject({
    Status: "SUCCESS",
    PhysicalResourceId: "Checked",
    StackId: "stack",
    RequestId: "request",
    LogicalResourceId: "Checked",
  });
  expect(invoked).toEqual(["one:2"]);
});

test("a release with a version that fails three times is not released, for a reason without what was said", async () => {
  answers = {
    one: [{ functionError: "Unhandled", payload: '{"errorType":"SyntaxError","errorMessage":"secret"}' }],
  };
  expect(await deploy(versions, before)).toMatchObject({
    Status: "FAILED",
    Reason: "not released: one (SyntaxError)",
  });
  expect(invoked).toEqual(["one:2", "one:2", "one:2"]);
});

test("a release is not refused for what has passed at a further attempt", async () => {
  answers = { one: [{ payload: '{"statusCode":503}' }, { payload: '{"statusCode":200}' }] };
  expect(await deploy(versions, before)).toMatchObject({ Status: "SUCCESS" });
  expect(invoked).toEqual(["one:2", "one:2"]);
});

test("a deployment that is undone, the first one, and a release at once invoke nothing and are released", async () => {
  expect(await deploy(before, versions)).toMatchObject({ Status: "SUCCESS" });
  expect(await deploy(versions, undefined)).toMatchObject({ Status: "SUCCESS" });
  expect(await deploy(versions, before, true)).toMatchObject({ Status: "SUCCESS" });
  expect(invoked).toEqual([]);
});

describe("issuers of a release", () => {
  const own = { Issuer: "https://own.example", Audiences: ["ncs"] };
  const other = { Issuer: "https://other.example", Audiences: ["ncs", "ncs-2"] };
  const acceptedBefore = { Accepted: [own, other] };
  const release = (now: Issuers, atOnce = false) =>
    deploy(versions, before, atOnce, { now, before: acceptedBefore });

  beforeEach(() => {
    answers = { one: [{ payload: '{"statusCode":404}' }] };
  });

  test.each<[string, Issuers, string]>([
    ["an issuer", { Accepted: [own] }, "https://other.example with audience ncs, ncs-2"],
    [
      "one of the audiences of an issuer",
      { Accepted: [own, { ...other, Audiences: ["ncs"] }] },
      "https://other.example with audience ncs-2",
    ],
    [
      "the own issuer, when another is retired",
      { Accepted: [other], Retired: ["https://another.example"] },
      "https://own.example with audience ncs",
    ],
  ])("a release that loses %s is not released", async (_, now, lost) => {
    expect(await release(now)).toMatchObject({
      Status: "FAILED",
      Reason: `not released: it would refuse tokens of ${lost}, which retiredIssuers does not name`,
    });
  });

  test("a deployment with release=at-once fails if it loses an issuer that retiredIssuers does not name", async () => {
    expect(await release({ Accepted: [own] }, true)).toMatchObject({ Status: "FAILED" });
    expect(invoked).toEqual([]);
  });

  test("a release that loses a retired issuer, or gains one, is released", async () => {
    expect(await release({ Accepted: [own], Retired: [other.Issuer] })).toMatchObject({ Status: "SUCCESS" });
    const more = { Issuer: "https://third.example", Audiences: ["ncs"] };
    expect(await release({ Accepted: [own, other, more] })).toMatchObject({ Status: "SUCCESS" });
  });

  test("a deployment that is undone loses the issuers that it added, and is released", async () => {
    const undone = { now: { Accepted: [own] }, before: acceptedBefore };
    expect(await deploy(before, versions, false, undone)).toMatchObject({ Status: "SUCCESS" });
  });
});
