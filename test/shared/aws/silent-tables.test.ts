import type { RequestListener } from "node:http";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import * as z from "zod/mini";
import { endpoint } from "../../../shared/endpoint.ts";
import { quotas } from "../../../shared/quota/table.ts";
import { table, tableVariable } from "../../../shared/table.ts";
import { authorizerContext, captureOutput, eventOf } from "../../support/pipeline.ts";
import { serverOfTest } from "../../support/signed.ts";

const tableNamed = <const Name extends string>(name: Name) =>
  table({ name, partitionKey: "id", schema: z.looseObject({}) });
const [phones, records] = [tableNamed("phones"), tableNamed("records")];

const said = endpoint({
  operationId: "say",
  summary: "Says",
  description: "Says.",
  method: "POST",
  id: "test/said",
  path: "/said",
  aliases: [],
  scope: "qos-profiles:read",
  body: z.object({}),
  responses: { 200: z.object({}) },
  errors: [],
});

const found: RequestListener = (_, response) =>
  response.end('{"Attributes":{"dayCount":{"N":"7"},"minuteCount":{"N":"7"}},"Responses":{"phones":[]}}');
const failed: RequestListener = (_, response) => response.writeHead(500).end("{}");
const throttled: RequestListener = (_, response) =>
  response.writeHead(400).end('{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException"}');
const reset: RequestListener = (request) => void request.socket.resetAndDestroy();
const silent: RequestListener = () => {};

let output: ReturnType<typeof captureOutput>;

beforeEach(() => {
  vi.stubEnv("AWS_REGION", "eu-west-3");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "a secret of nobody");
  for (const one of [phones, records, quotas]) vi.stubEnv(tableVariable(one), one.name);
  vi.stubEnv("RATE_LIMIT_PER_MINUTE", "1000");
  vi.stubEnv("DAILY_QUOTA", "1000");
  vi.useFakeTimers({ toFake: ["performance"] });
  output = captureOutput();
});
afterEach(() => {
  output.stop();
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

/** An environment of its own, whose tables answer as given and otherwise well, and the calls that it makes of each. */
async function environmentWith(answers: Record<string, RequestListener>) {
  const calls: Record<string, number> = { phones: 0, records: 0, quotas: 0 };
  const server = await serverOfTest(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const [name = ""] = Object.keys(calls).filter((one) => body.includes(`"${one}"`));
    calls[name] = (calls[name] ?? 0) + 1;
    (answers[name] ?? found)(request, response);
  });
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", server.url);
  vi.resetModules();
  const database = await import("../../../shared/aws/database.ts");
  const { serve } = await import("../../../shared/http/serve.ts");
  let read = async (signal: AbortSignal): Promise<unknown> => {
    await database.getItem(phones, { id: "a" }, signal);
    return await database.getItem(records, { id: "a" }, signal);
  };
  const handler = serve(said, async ({ signal, reply }) => {
    await read(signal);
    return reply(200, {});
  });
  return {
    answers,
    calls,
    database,
    reads: (other: typeof read) => {
      read = other;
    },
    /** Asks one after the other, and returns each status, and with it when to come back. */
    ask: async (requests: number) => {
      const seen: string[] = [];
      for (let request = 0; request < requests; request++) {
        const event = eventOf({ body: "{}", authorizer: authorizerContext() });
        const { statusCode, headers } = await handler(event, { getRemainingTimeInMillis: () => 60_000 });
        seen.push([statusCode, headers?.["retry-after"]].join(" ").trim());
      }
      return seen;
    },
  };
}

const refused = (count: number) => Array.from({ length: count }, () => "503 5");

test("requests get 503 at once after two that DynamoDB did not answer, then one tries once, and all are served again", async () => {
  vi.stubEnv("DEADLINE_FACTOR", "1");
  const { ask, answers, calls } = await environmentWith({ phones: silent, quotas: silent });

  expect(await ask(6)).toEqual(refused(6));
  expect(calls.phones).toBe(6);
  vi.advanceTimersByTime(1_500);
  expect(await ask(4)).toEqual(refused(4));
  expect(calls).toMatchObject({ phones: 7, records: 0 });

  vi.advanceTimersByTime(1_500);
  vi.stubEnv("DEADLINE_FACTOR", "50");
  Object.assign(answers, { phones: found, quotas: found });
  expect(await ask(3)).toEqual(["200", "200", "200"]);
});

test("a table that is silent is paused although another answers each request, which alone stays in use", async () => {
  const { ask, calls, database, reads } = await environmentWith({ records: reset });

  expect(await ask(6)).toEqual(refused(6));
  expect(calls).toEqual({ phones: 6, records: 6, quotas: 6 });
  reads((signal) => database.getItem(phones, { id: "a" }, signal));
  expect(await ask(2)).toEqual(["200", "200"]);
});

test("counts that are not answered, be they all, refuse nobody", async () => {
  const { ask } = await environmentWith({ quotas: reset });

  expect(await ask(6)).toEqual(Array.from({ length: 6 }, () => "200"));
});

test.each([
  ["throttled", throttled],
  ["failed by DynamoDB", failed],
])("every request asks while calls are %s, as these are answers", async (_, answer) => {
  vi.stubEnv("DEADLINE_FACTOR", "50");
  const { ask, calls } = await environmentWith({ phones: answer });

  expect(await ask(3)).toEqual(refused(3));
  expect(calls.phones).toBe(9);
});

test.each([
  [900, 4],
  [1_000, 2],
])(
  "calls that end after %i ms without an answer, as their request wants, are made %i times of four",
  async (milliseconds, asked) => {
    vi.stubEnv("DEADLINE_FACTOR", "1");
    const { ask, calls, database, reads } = await environmentWith({ phones: silent });
    reads(async (signal) => {
      const ending = new AbortController();
      const call = database.getItem(phones, { id: "a" }, AbortSignal.any([signal, ending.signal]));
      await vi.waitUntil(() => (calls.phones ?? 0) > before || before >= asked);
      vi.advanceTimersByTime(milliseconds);
      ending.abort();
      return await call;
    });
    let before = 0;
    for (; before < 4; before++) expect(await ask(1)).toEqual(refused(1));

    expect(calls.phones).toBe(asked);
  },
);

test("calls of a request wait for the one that tries, and are made when it is answered", async () => {
  vi.stubEnv("DEADLINE_FACTOR", "50");
  const { ask, answers, calls, database, reads } = await environmentWith({ phones: reset });
  const keys = Array.from({ length: 300 }, (_, id) => ({ id: String(id) }));
  await ask(2);
  reads((signal) => database.getItems(phones, keys, signal));
  vi.advanceTimersByTime(1_500);
  answers.phones = found;
  const before = calls.phones ?? 0;

  expect(await ask(1)).toEqual(["200"]);
  expect(calls.phones).toBe(before + 3);
});

test("what serves no caller asks each time, as a worker that records must", async () => {
  const { calls } = await environmentWith({ phones: reset });
  vi.resetModules();
  const { getItem } = await import("../../../shared/aws/database.ts");

  for (let turn = 0; turn < 4; turn++)
    await expect(getItem(phones, { id: "a" }, AbortSignal.timeout(60_000))).rejects.toThrow("DynamoDB: ");
  expect(calls.phones).toBe(12);
});
