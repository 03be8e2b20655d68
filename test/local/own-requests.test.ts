import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDatabase } from "../../tools/local/servers/database.ts";
import { isOwnHost } from "../../tools/local/servers/own-requests.mjs";
import { openQueueServer } from "../../tools/local/servers/queue-server.ts";
import { SecretStore } from "../../tools/local/servers/secret-store.ts";
import { openSecretsEndpoint } from "../../tools/local/servers/secrets-endpoint.ts";
import { words } from "../support/words.ts";

const allowedHosts = ["host.docker.internal"];

test.each([
  "127.0.0.1:3000",
  "LocalHost:3000",
  "[::1]:3000",
  "Host.Docker.Internal:3000",
  "host.docker.internal",
])("a local server on port 3000 with --allow-host host.docker.internal answers the Host %s", (host) => {
  expect(isOwnHost(host, 3000, allowedHosts)).toBe(true);
});

test.each([
  undefined,
  "",
  ...words(`
    127.0.0.1 127.0.0.1:3001 127.0.0.2:3000 192.168.1.7:3000 localhost.:3000
    localhost.rebound.example:3000 x@127.0.0.1:3000 x.host.docker.internal:3000
  `),
])("a local server on port 3000 with --allow-host host.docker.internal refuses the Host %s", (host) => {
  expect(isOwnHost(host, 3000, allowedHosts)).toBe(false);
});

test("a local server on port 80, which clients omit, answers the Host 127.0.0.1", () => {
  expect(isOwnHost("127.0.0.1", 80, [])).toBe(true);
});

/** A call that each embedded server answers by itself, and the status of its answer. */
const calls = {
  DynamoDB: ["DynamoDB_20120810.ListTables", 200],
  SQS: ["AmazonSQS.ListQueues", 200],
  "Secrets Manager": ["secretsmanager.DescribeSecret", 400],
} as const;

describe.each(Object.entries(calls))("the embedded %s", (name, [target, status]) => {
  const open = {
    DynamoDB: () => openDatabase(undefined, { allowedHosts }),
    SQS: () => openQueueServer(undefined, { allowedHosts }),
    "Secrets Manager": async () => {
      const opened = await openSecretsEndpoint(new SecretStore([]), unused, async () => {}, allowedHosts);
      return { endpoint: opened.url, close: opened.close };
    },
  }[name as keyof typeof calls];
  let server: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    server = await open();
  });
  afterAll(() => server.close());

  const send = async (headers: Readonly<Record<string, string>>, method = "POST") => {
    const request = httpRequest(server.endpoint, {
      method,
      agent: false,
      headers: { ...signed, ...headers },
    });
    request.setHeader("x-amz-target", target).end("{}");
    const [response] = await once(request, "response");
    return { status: response.statusCode, headers: response.headers, body: await text(response) };
  };

  test(`responds ${status} to a program that calls it by localhost or an allowed name`, async () => {
    const { port } = new URL(server.endpoint);
    expect(await send({})).toMatchObject({ status });
    expect(await send({ host: `localhost:${port}` })).toMatchObject({ status });
    expect(await send({ host: `host.docker.internal:${port}` })).toMatchObject({ status });
  });

  test.each([
    ["POST", "of a page", { origin: "http://localhost:5173" }],
    ["POST", "of a page without an origin of its own", { origin: "null" }],
    ["OPTIONS", "of a page that asks whether it may", { origin: "http://127.0.0.1:3000" }],
    ["POST", "with the Host of another name", { host: "rebound.example" }],
    ["POST", "with the port of another server", { host: "127.0.0.1:1" }],
  ])("responds 403 to a %s %s, without CORS headers", async (method, _, headers) => {
    const refused = await send(headers, method);

    expect(refused.status).toBe(403);
    expect(JSON.parse(refused.body)).toMatchObject({ __type: "AccessDeniedException" });
    expect(Object.keys(refused.headers).filter((header) => header.startsWith("access-control"))).toEqual([]);
  });
});

const signed = {
  authorization:
    "AWS4-HMAC-SHA256 Credential=local/20260101/eu-west-1/any/aws4_request, SignedHeaders=host, Signature=local",
  "content-type": "application/x-amz-json-1.0",
  "x-amz-date": "20260101T000000Z",
};

function unused(): never {
  throw new Error("no rotation is started");
}
