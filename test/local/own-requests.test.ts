import { once } from "node:events";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../tools/local/servers/database.ts";
import { isOwnHost } from "../../tools/local/servers/own-requests.mjs";
import { openQueueServer } from "../../tools/local/servers/queue-server.ts";
import { SecretStore } from "../../tools/local/servers/secret-store.ts";
import { openSecretsEndpoint } from "../../tools/local/servers/secrets-endpoint.ts";
import { words } from "../support/words.ts";

const allowedHosts = ["host.docker.internal"];

test.each(words("127.0.0.1:3000 LocalHost:3000 [::1]:3000 Host.Docker.Internal:3000 host.docker.internal"))(
  "a local server on port 3000 with --allow-host host.docker.internal answers the Host %s",
  (host) => {
    expect(isOwnHost(host, 3000, allowedHosts)).toBe(true);
  },
);

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

const unused = () => {
  throw new Error("no rotation is started");
};
const openSecrets = async () => {
  const opened = await openSecretsEndpoint(new SecretStore([]), unused, async () => {}, allowedHosts);
  return { endpoint: opened.url, close: opened.close };
};

/** Each embedded server, and a call that it answers by itself with a status. */
const servers = [
  ["DynamoDB", () => openDatabase(undefined, { allowedHosts }), "DynamoDB_20120810.ListTables", 200],
  ["SQS", () => openQueueServer(undefined, { allowedHosts }), "AmazonSQS.ListQueues", 200],
  ["Secrets Manager", openSecrets, "secretsmanager.DescribeSecret", 400],
] as const;

describe.each(servers)("the embedded %s", (_, open, target, status) => {
  test("the embedded server answers programs by its own names, and pages and other names with 403 and no CORS headers", async () => {
    const { endpoint, close } = await open();
    onTestFinished(close);
    const { port } = new URL(endpoint);
    const send = async (more: Readonly<Record<string, string>>, method = "POST") => {
      const headers = { ...signed, "x-amz-target": target, ...more };
      const [answer] = await once(request(endpoint, { method, agent: false, headers }).end("{}"), "response");
      return { status: answer.statusCode, names: Object.keys(answer.headers), body: await text(answer) };
    };
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `host.docker.internal:${port}`]) {
      expect(await send({ host })).toMatchObject({ status });
    }
    for (const refused of [
      await send({ origin: "http://localhost:5173" }),
      await send({ origin: "null" }),
      await send({ origin: "http://127.0.0.1:3000" }, "OPTIONS"),
      await send({ host: "rebound.example" }),
      await send({ host: "127.0.0.1:1" }),
    ]) {
      expect({ status: refused.status, ...JSON.parse(refused.body) }).toMatchObject({
        status: 403,
        __type: "AccessDeniedException",
      });
      expect(refused.names.join()).not.toContain("access-control-");
    }
  });
});

const credential = "Credential=local/20260101/eu-west-1/any/aws4_request";
const signed = {
  authorization: `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=host, Signature=local`,
  "content-type": "application/x-amz-json-1.0",
  "x-amz-date": "20260101T000000Z",
};
