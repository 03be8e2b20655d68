import { createHash, createHmac } from "node:crypto";
import type { RequestListener } from "node:http";
import { DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { answerMilliseconds, clientDefaults } from "../../../shared/aws/clients.ts";
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
const updated = '{"Attributes":{"dayCount":{"N":"7"}}}';
const signal = AbortSignal.timeout(600_000);

interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

let close: (() => Promise<unknown>) | undefined;

beforeEach(() => {
  vi.stubEnv("AWS_REGION", "eu-west-3");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", secret);
  vi.stubEnv("AWS_SESSION_TOKEN", "a session");
});
afterEach(async () => {
  await close?.();
  close = undefined;
  vi.unstubAllEnvs();
});

/** A client of a server, and what the server has received; the last answer is given again and again. */
async function clientOf(...answers: readonly RequestListener[]) {
  const received: Received[] = [];
  const server = await countingServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const { method = "", url: path = "" } = request;
    received.push({ method, path, headers: request.headers as Record<string, string>, body });
    answers[Math.min(received.length, answers.length) - 1]?.(request, response);
  });
  close = server.close;
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", server.url);
  return { client: new DynamoDBClient(clientDefaults()), received };
}

const answering =
  (status: number, body: string): RequestListener =>
  (_, response) =>
    response.writeHead(status, { "content-type": "application/x-amz-json-1.0" }).end(body);
const refusing = (name: string) =>
  answering(400, JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: "why" }));

/** https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html */
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

test("a direct update asks for what the SDK asks for, signed, and returns what the SDK returns", async () => {
  const { client, received } = await clientOf(answering(200, updated));

  const direct = await updateDirectly(client, input, signal);
  const { Attributes } = await client.send(new UpdateItemCommand(input));

  expect(direct).toEqual({ Attributes });
  const [ours, theirs] = received;
  if (ours === undefined || theirs === undefined) throw new Error("two requests are expected");
  expect(JSON.parse(ours.body)).toEqual(JSON.parse(theirs.body));
  const same = ["host", "content-type", "x-amz-target", "x-amz-security-token", "content-length"];
  const shared = ({ method, path, headers }: Received) => [
    method,
    path,
    ...same.map((name) => headers[name]),
  ];
  expect(shared(ours)).toEqual(shared(theirs));
  expect(ours.headers.authorization).toContain(`Signature=${signatureOf(ours)}`);
  expect(ours.headers.authorization).toMatch(
    /\/eu-west-3\/dynamodb\/aws4_request, SignedHeaders=.*host.*x-amz-date.*x-amz-security-token.*x-amz-target/,
  );
});

test("a direct update goes to DynamoDB of the region when no other address is set", async () => {
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", "");
  const client = new DynamoDBClient(clientDefaults());
  const handle = vi.fn(() => Promise.reject(Object.assign(new Error("seen"), { $fault: "client" })));
  Object.assign(client.config, { requestHandler: { handle } });

  await expect(updateDirectly(client, input, signal)).rejects.toThrow("seen");

  const [[direct] = [], [sdk, options] = []] = handle.mock.calls as unknown[][];
  const address = { protocol: "https:", hostname: "dynamodb.eu-west-3.amazonaws.com", path: "/" };
  expect(direct).toMatchObject({ ...address, port: undefined });
  expect(sdk).toMatchObject(address);
  // Its three attempts then take no longer than three do without a direct one.
  expect(options).toMatchObject({ requestTimeout: (2 / 3) * answerMilliseconds() });
});

test("an update is sent once, by the SDK, if its client is limited to one attempt", async () => {
  const { received } = await clientOf(refusing("ThrottlingException"));
  const client = new DynamoDBClient({ ...clientDefaults(), maxAttempts: 1 });

  await expect(updateDirectly(client, input, signal)).rejects.toMatchObject({ name: "ThrottlingException" });

  expect(received).toHaveLength(1);
});

test.each<[fault: string, RequestListener]>([
  ["answers 500", answering(500, '{"__type":"InternalServerError"}')],
  ["answers half a body", answering(200, '{"Attributes":')],
  ["throttles", refusing("ThrottlingException")],
  ["closes the connection", (request) => void request.socket.destroy()],
])("the SDK makes the call when DynamoDB first %s", async (_, fault) => {
  const { client, received } = await clientOf(fault, answering(200, updated));

  expect(await updateDirectly(client, input, signal)).toMatchObject({ Attributes: { dayCount: { N: "7" } } });
  expect(received).toHaveLength(2);
});

test("an update whose condition does not hold is refused after one call", async () => {
  const { client, received } = await clientOf(refusing("ConditionalCheckFailedException"));

  await expect(updateDirectly(client, input, signal)).rejects.toMatchObject({
    name: "ConditionalCheckFailedException",
    $fault: "client",
  });
  expect(received).toHaveLength(1);
});

test("updates are signed with DynamoDB's time after one was refused because this machine's is an hour late", async () => {
  const checked: RequestListener = (request, response) => {
    const now = new Date(Date.now() + 3_600_000);
    const [, date, time] = /^(\d{8}T\d\d)(\d\d)/.exec(String(request.headers["x-amz-date"])) ?? [];
    const isLate = `${date}${time}` < now.toISOString().replace(/[-:]/g, "").slice(0, 11);
    response.setHeader("date", now.toUTCString());
    (isLate ? refusing("InvalidSignatureException") : answering(200, updated))(request, response);
  };
  const { client, received } = await clientOf(checked);

  await updateDirectly(client, input, signal);
  const first = received.length;
  await updateDirectly(client, input, signal);

  expect(first).toBe(3);
  expect(received).toHaveLength(4);
});

test("a direct update ends with its signal, and counts as time of DynamoDB", async () => {
  const { client } = await clientOf(() => {});
  const times = new DependencyTimes();

  const update = timeCalls(times, () => updateDirectly(client, input, AbortSignal.timeout(300)));

  await expect(update).rejects.toThrow();
  expect(times.fields().dynamodbMilliseconds).toBeGreaterThanOrEqual(290);
});
