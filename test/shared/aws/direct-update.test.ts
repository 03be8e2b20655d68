import { createHash, createHmac } from "node:crypto";
import type { RequestListener } from "node:http";
import { DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { clientDefaults } from "../../../shared/aws/clients.ts";
import { DependencyTimes, timeCalls } from "../../../shared/aws/dependency-times.ts";
import { updateDirectly } from "../../../shared/aws/direct-update.ts";
import { countingServer } from "../../support/signed.ts";

const secret = "a secret of nobody";
const input = {
  TableName: "quotas",
  Key: { caller: { S: "ünïcode caller" } },
  UpdateExpression: "ADD dayCount :one",
  ExpressionAttributeValues: { ":one": { N: "1" } },
  ReturnValues: "UPDATED_NEW",
} as const;

interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

let client: DynamoDBClient | undefined;
let close: (() => Promise<unknown>) | undefined;

beforeEach(() => {
  vi.stubEnv("AWS_REGION", "eu-west-3");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", secret);
  vi.stubEnv("AWS_SESSION_TOKEN", "a session");
});
afterEach(async () => {
  client?.destroy();
  await close?.();
  close = undefined;
  vi.unstubAllEnvs();
});

/** A client of a server that gives each answer once, the last one for ever, and what it has received. */
async function clientOf(...answers: readonly (readonly [status: number, body: string])[]) {
  const received: Received[] = [];
  const listener: RequestListener = async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const { method = "", url: path = "" } = request;
    received.push({ method, path, headers: request.headers as Record<string, string>, body });
    const [status, text] = answers[Math.min(received.length, answers.length) - 1] ?? [200, "{}"];
    response.writeHead(status, { "content-type": "application/x-amz-json-1.0" }).end(text);
  };
  const server = await countingServer(listener);
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", server.url);
  close = server.close;
  client = new DynamoDBClient(clientDefaults());
  return { client, received };
}

const signal = () => AbortSignal.timeout(60_000);
const refusedFor = (type: string) =>
  [400, JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: "why" })] as const;

/**
 * The signature that a request should have:
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html
 */
function signatureOf({ method, path, headers, body }: Received): string {
  const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
  const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();
  const [, scope = "", names = ""] =
    /Credential=AKIDEXAMPLE\/([^,]+), SignedHeaders=([^,]+),/.exec(headers.authorization ?? "") ?? [];
  const signed = names.split(";").map((name) => `${name}:${headers[name]}\n`);
  const canonical = [method, path, "", signed.join(""), names, sha256(body)].join("\n");
  const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, sha256(canonical)].join("\n");
  const key = scope.split("/").reduce<string | Buffer>(hmac, `AWS4${secret}`);
  return hmac(key, text).toString("hex");
}

describe("a direct update", () => {
  test("asks for what the SDK asks for, and returns what it returns", async () => {
    const answer = [200, '{"Attributes":{"dayCount":{"N":"7"}}}'] as const;
    const { client, received } = await clientOf(answer);

    const direct = await updateDirectly(client, input, signal());
    const { Attributes } = await client.send(new UpdateItemCommand(input));

    expect(direct.Attributes).toEqual(Attributes);
    const [ours, theirs] = received;
    expect(JSON.parse(ours?.body ?? "")).toEqual(JSON.parse(theirs?.body ?? ""));
    expect([ours?.method, ours?.path]).toEqual([theirs?.method, theirs?.path]);
    for (const name of ["host", "content-type", "x-amz-target", "x-amz-security-token", "content-length"]) {
      expect(ours?.headers[name], name).toBe(theirs?.headers[name]);
    }
  });

  test("is signed: method, path, target, token and body", async () => {
    const { client, received } = await clientOf();
    await updateDirectly(client, input, signal());
    const [request] = received;
    if (request === undefined) throw new Error("a request is expected");
    const authorization = request.headers.authorization ?? "";
    expect(authorization).toContain(`Signature=${signatureOf(request)}`);
    expect(authorization).toContain("/eu-west-3/dynamodb/aws4_request");
    for (const name of ["host", "x-amz-date", "x-amz-target", "x-amz-security-token"])
      expect(authorization).toMatch(new RegExp(`SignedHeaders=[^,]*${name}`));
  });

  test("goes to AWS when no other address is set", async () => {
    vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", "");
    client = new DynamoDBClient(clientDefaults());
    const handle = vi.fn(async () => {
      throw Object.assign(new Error("seen"), { $fault: "client" });
    });
    Object.assign(client.config, { requestHandler: { handle } });
    await expect(updateDirectly(client, input, signal())).rejects.toThrow("seen");
    expect(handle.mock.calls[0]?.at(0)).toMatchObject({
      protocol: "https:",
      hostname: "dynamodb.eu-west-3.amazonaws.com",
      port: undefined,
      path: "/",
    });
  });

  test("is made again after a failure of DynamoDB, three times at most", async () => {
    const failure = [500, '{"__type":"InternalServerError"}'] as const;
    const once = await clientOf(failure, refusedFor("ThrottlingException"), [200, "{}"]);
    expect(await updateDirectly(once.client, input, signal())).toEqual({});
    expect(once.received).toHaveLength(3);
    await close?.();

    const always = await clientOf(failure);
    await expect(updateDirectly(always.client, input, signal())).rejects.toMatchObject({
      name: "InternalServerError",
      $fault: "server",
    });
    expect(always.received).toHaveLength(3);
  });

  test("is signed with the time of DynamoDB, from the second attempt on, where this machine has another", async () => {
    const hour = 3_600_000;
    const dates: string[] = [];
    const server = await countingServer((request, response) => {
      const now = new Date(Date.now() + hour);
      const sent = String(request.headers["x-amz-date"]);
      dates.push(sent);
      const [, date, hours, minutes, seconds] = /^(\d{8})T(\d\d)(\d\d)(\d\d)Z$/.exec(sent) ?? [];
      const day = date?.replace(/^(\d{4})(\d\d)(\d\d)$/, "$1-$2-$3");
      const isLate = now.getTime() - Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`) > 300_000;
      const [status, body] = isLate ? refusedFor("InvalidSignatureException") : [200, "{}"];
      response.writeHead(status, { date: now.toUTCString() }).end(body);
    });
    close = server.close;
    vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", server.url);
    client = new DynamoDBClient(clientDefaults());
    expect(await updateDirectly(client, input, signal())).toEqual({});
    expect(await updateDirectly(client, input, signal())).toEqual({});
    expect(dates).toHaveLength(3);
    await expect(client.send(new UpdateItemCommand(input))).resolves.toMatchObject({});
    expect(dates).toHaveLength(4);
  });

  test("is made once when its signature is refused and the clocks agree", async () => {
    const { client, received } = await clientOf(refusedFor("InvalidSignatureException"));
    await expect(updateDirectly(client, input, signal())).rejects.toMatchObject({ $fault: "client" });
    expect(received).toHaveLength(1);
  });

  test("is made once when a condition does not hold", async () => {
    const { client, received } = await clientOf(refusedFor("ConditionalCheckFailedException"));
    await expect(updateDirectly(client, input, signal())).rejects.toMatchObject({
      name: "ConditionalCheckFailedException",
      message: "ConditionalCheckFailedException",
    });
    expect(received).toHaveLength(1);
  });

  test("ends with its signal, and is timed for the request that the signal is of", async () => {
    const { client, received } = await clientOf();
    const times = new DependencyTimes();
    const own = signal();
    timeCalls(own, times);
    await updateDirectly(client, input, own);
    expect(times.fields()).toEqual({ dynamodbMilliseconds: expect.any(Number) });
    await expect(updateDirectly(client, input, AbortSignal.abort())).rejects.toMatchObject({
      name: "AbortError",
    });
    expect(received).toHaveLength(1);
  });
});
