import { createHash, createHmac } from "node:crypto";
import type { RequestListener } from "node:http";
import { DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import * as z from "zod";
import { clientDefaults } from "../../../shared/aws/clients.ts";
import { DependencyTimes, timeCalls } from "../../../shared/aws/dependency-times.ts";
import { updateOnce } from "../../../shared/aws/direct-update.ts";
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
const counts = z.object({ dayCount: z.number() });
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

const count = async (client: DynamoDBClient) => {
  const end = await updateOnce(client, input, counts, signal);
  return "updated" in end ? end.updated : end.found;
};

test("an update in one attempt asks for what the SDK asks for, signed, and returns the attributes", async () => {
  const { client, received } = await clientOf(answering(200, updated));

  expect(await count(client)).toEqual({ dayCount: 7 });
  await client.send(new UpdateItemCommand(input));

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

test("an update in one attempt goes to DynamoDB of the region when no other address is set", async () => {
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", "");
  const client = new DynamoDBClient(clientDefaults());
  const handle = vi.fn(() => Promise.reject(new Error("seen")));
  Object.assign(client.config, { requestHandler: { handle } });

  await expect(count(client)).rejects.toThrow("DynamoDB: Error");

  const [[sent] = []] = handle.mock.calls as unknown[][];
  const address = { protocol: "https:", hostname: "dynamodb.eu-west-3.amazonaws.com", path: "/" };
  expect(sent).toMatchObject({ ...address, port: undefined });
});

const executed = answering(200, updated);
const lost: RequestListener = (request) => void request.socket.destroy();
const reset: RequestListener = (request) => void request.socket.resetAndDestroy();
const cut: RequestListener = (_, response) => {
  response.writeHead(200, { "content-length": "100" }).write('{"Attr', () => response.destroy());
};
const stalled: RequestListener = (_, response) => {
  response.writeHead(200, { "content-length": "100" }).write('{"Attr');
};
const unanswered: RequestListener = () => {};
const notCounted = (cause: string) => `DynamoDB: ${cause}`;
// Which of the client's time limits is seen first.
const tooLate = expect.stringMatching(/^DynamoDB: (?:TimeoutError|ETIMEDOUT|ECONNRESET)$/);

/** What DynamoDB does with each request of an update, and how the update ends: nothing is sent again unless a row says so. */
const scripts: readonly (readonly [script: string, readonly RequestListener[], end: unknown])[] = [
  ["executes it", [executed], { dayCount: 7 }],
  ["finds that the condition does not hold", [refusing("ConditionalCheckFailedException")], undefined],
  ["executes it and closes the connection without an answer", [lost], notCounted("ECONNRESET")],
  ["executes it and closes the connection within its answer", [cut], notCounted("ECONNRESET")],
  ["executes it and stops within its answer", [stalled], tooLate],
  ["executes it and never answers", [unanswered], tooLate],
  ["executes it and answers half of the JSON", [answering(200, '{"Attributes":')], notCounted("SyntaxError")],
  ["answers with a page of HTML", [answering(200, "<html>It works!</html>")], notCounted("SyntaxError")],
  ["answers without attributes", [answering(200, "{}")], notCounted("$ZodError")],
  ["answers with other attributes", [answering(200, '{"Attributes":{}}')], notCounted("ZodError")],
  ["answers null", [answering(200, "null")], notCounted("$ZodError")],
  ["refuses with a type that is no text", [answering(400, '{"__type":7}')], notCounted("$ZodError")],
  ["refuses with null", [answering(400, "null")], notCounted("$ZodError")],
  ["throttles", [refusing("ThrottlingException")], notCounted("ThrottlingException")],
  [
    "throttles for the provisioned throughput",
    [refusing("ProvisionedThroughputExceededException")],
    notCounted("ProvisionedThroughputExceededException"),
  ],
  ["denies access", [refusing("AccessDeniedException")], notCounted("AccessDeniedException")],
  ["fails with 500", [answering(500, '{"__type":"InternalServerError"}')], notCounted("InternalServerError")],
  ["fails with 503 and no body", [answering(503, "")], notCounted("SyntaxError")],
  ["resets a new connection", [reset], notCounted("ECONNRESET")],
];
const onKeptConnections: typeof scripts = [
  ["has reset the kept connection", [reset, executed], { dayCount: 7 }],
  ["has reset two kept connections", [reset, reset], notCounted("ECONNRESET")],
  ["resets, and then closes without an answer", [reset, lost], notCounted("ECONNRESET")],
  ["executes it and closes the kept connection without an answer", [lost], notCounted("ECONNRESET")],
];

const endOf = (update: Promise<unknown>) => update.catch((error: Error) => error.message);

test.each(scripts)("an update ends as its one attempt does when DynamoDB %s", async (_, script, end) => {
  // What is answered is answered in time on a busy machine, too.
  vi.stubEnv("DEADLINE_FACTOR", end === tooLate ? "1" : "50");
  const { client, received } = await clientOf(...script, executed);

  expect(await endOf(count(client))).toEqual(end);
  expect(received).toHaveLength(1);
});

test.each(onKeptConnections)(
  "an update is sent again only after a reset when DynamoDB %s",
  async (_, script, end) => {
    const { client, received } = await clientOf(executed, ...script, executed);
    await count(client);

    expect(await endOf(count(client))).toEqual(end);
    expect(received).toHaveLength(1 + script.length);
  },
);

test("an update is not counted when no server listens", async () => {
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:9");

  expect(await endOf(count(new DynamoDBClient(clientDefaults())))).toBe(notCounted("ECONNREFUSED"));
});

test("an update is signed with the time that the SDK has found DynamoDB's to be", async () => {
  const hourMilliseconds = 3_600_000;
  const checked: RequestListener = (request, response) => {
    const now = new Date(Date.now() + hourMilliseconds);
    const [, date, time] = /^(\d{8}T\d\d)(\d\d)/.exec(String(request.headers["x-amz-date"])) ?? [];
    const isLate = `${date}${time}` < now.toISOString().replace(/[-:]/g, "").slice(0, 11);
    response.setHeader("date", now.toUTCString());
    (isLate ? refusing("InvalidSignatureException") : executed)(request, response);
  };
  const { client } = await clientOf(checked);

  expect(await endOf(count(client))).toBe(notCounted("InvalidSignatureException"));
  await client.send(new UpdateItemCommand(input));
  expect(await count(client)).toEqual({ dayCount: 7 });
});

test("an update ends with its signal, and counts as time of DynamoDB", async () => {
  const times = new DependencyTimes();
  const { client } = await clientOf(unanswered);

  const update = timeCalls(times, () => updateOnce(client, input, counts, AbortSignal.timeout(300)));

  expect(await endOf(update)).toBe(notCounted("AbortError"));
  expect(times.fields().dynamodbMilliseconds).toEqual(expect.any(Number));
});
