import type { RequestListener } from "node:http";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import * as z from "zod/mini";
import { endpoint } from "../../../shared/endpoint.ts";
import { quotas } from "../../../shared/quota/table.ts";
import { table, tableVariable } from "../../../shared/table.ts";
import { authorizerContext, captureOutput, eventOf } from "../../support/pipeline.ts";
import { serverOfTest } from "../../support/signed.ts";

const counted: RequestListener = (_, response) =>
  response.end('{"Attributes":{"dayCount":{"N":"7"},"minuteCount":{"N":"7"}}}');
const throttled: RequestListener = (_, response) =>
  response.writeHead(400).end('{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException"}');
const failed: RequestListener = (_, response) => response.writeHead(500).end("{}");
const reset: RequestListener = (request) => void request.socket.resetAndDestroy();
const unanswered: RequestListener = () => {};
const stalled: RequestListener = (_, response) => {
  response.writeHead(200, { "content-length": "100" }).write('{"Attr');
};

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
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

type Database = typeof import("../../../shared/aws/database.ts");
type Read = (database: Database, signal: AbortSignal) => Promise<unknown>;

const nothing: Read = async () => undefined;
type ByTable<Value> = Record<string, Value>;

/**
 * An environment of its own, whose DynamoDB answers in turn as scripted, and then as the last of the script does.
 * @param options units that requests charge and what they read; how other tables answer, and how often they were asked.
 */
async function environmentWith(
  script: readonly RequestListener[],
  options: { units?: number; read?: Read; tables?: ByTable<RequestListener>; calls?: ByTable<number> } = {},
) {
  let { units = 0, read = nothing, tables = {}, calls = {} } = options;
  let answers = script;
  let turn = 0;
  const server = await serverOfTest(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    const name = Object.keys(tables).find((one) => body.includes(`"${one}"`));
    if (name === undefined) return answers[Math.min(turn++, answers.length - 1)]?.(request, response);
    calls[name] = (calls[name] ?? 0) + 1;
    tables[name]?.(request, response);
  });
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", server.url);
  vi.resetModules();
  const database = await import("../../../shared/aws/database.ts");
  const { serve } = await import("../../../shared/http/serve.ts");
  const handler = serve(said, async ({ quotaChecked, charge, signal, reply }) => {
    await Promise.all([read(database, signal), quotaChecked.then(() => charge(units))]);
    return reply(200, {});
  });
  return {
    /** Asks one after the other, and returns each status. */
    statuses: async (requests: number, other: Read = read) => {
      read = other;
      const seen: string[] = [];
      for (let request = 0; request < requests; request++) {
        const event = eventOf({ body: "{}", authorizer: authorizerContext() });
        const { statusCode, headers } = await handler(event, { getRemainingTimeInMillis: () => 60_000 });
        seen.push(`${statusCode}${headers?.["retry-after"] === undefined ? "" : ", try again"}`);
      }
      return seen;
    },
    /** Asks one after the other, and returns whether each was counted; all must be served. */
    ask: async (requests: number) => {
      const isCounted: boolean[] = [];
      for (let request = 0; request < requests; request++) {
        const event = eventOf({ body: "{}", authorizer: authorizerContext() });
        const { statusCode, headers } = await handler(event, { getRemainingTimeInMillis: () => 60_000 });
        expect(statusCode).toBe(200);
        isCounted.push(headers?.["x-ratelimit-limit"] !== undefined);
      }
      return isCounted;
    },
    /** Asks as a client, and expects that its minute is used up. */
    refuse: async (client: string) => {
      const event = eventOf({ body: "{}", authorizer: authorizerContext({ client }) });
      const { statusCode } = await handler(event, { getRemainingTimeInMillis: () => 60_000 });
      expect(statusCode).toBe(429);
    },
    answer: (next: RequestListener) => {
      answers = [next];
    },
    requests: server.requests,
  };
}

/** The code and cause of each line about requests that are not counted, and the requests that the metric has. */
function reported() {
  const lines = output
    .text()
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
  return {
    lines: lines.filter(({ id }) => /^NCS-01/.test(id)).map(({ id, cause }) => `${id} ${cause}`),
    uncounted: lines.filter(({ QuotaNotCounted }) => QuotaNotCounted === 1).length,
  };
}

const inTime = "DynamoDB: AbortError";

test("requests are served while counts are not answered: after two nobody is counted, then one tries", async () => {
  const { ask, answer, requests } = await environmentWith([counted, unanswered]);

  expect(await ask(1)).toEqual([true]);
  vi.stubEnv("DEADLINE_FACTOR", "1");
  expect(await ask(9)).toEqual(Array.from({ length: 9 }, () => false));
  expect(requests()).toBe(3);
  expect(reported()).toEqual({ lines: [`NCS-010 ${inTime}`, `NCS-011 ${inTime}`], uncounted: 9 });

  vi.advanceTimersByTime(1_500);
  expect(await ask(3)).toEqual([false, false, false]);
  expect(requests()).toBe(4);
  expect(reported()).toEqual({
    lines: [`NCS-010 ${inTime}`, `NCS-011 ${inTime}`, `NCS-011 ${inTime}`],
    uncounted: 12,
  });

  vi.advanceTimersByTime(1_500);
  vi.stubEnv("DEADLINE_FACTOR", "50");
  answer(counted);
  expect(await ask(3)).toEqual([true, true, true]);
});

test("a count whose answer stops is over as soon as one that is not answered", async () => {
  const { ask } = await environmentWith([counted, stalled]);

  expect(await ask(1)).toEqual([true]);
  vi.stubEnv("DEADLINE_FACTOR", "1");
  expect(await ask(3)).toEqual([false, false, false]);
  const cause = expect.stringMatching(/^NCS-01[01] DynamoDB: (?:AbortError|ECONNRESET)$/);
  expect(reported()).toEqual({ lines: [cause, cause], uncounted: 3 });
});

test("the first count of an environment, which makes the connection, is not ended after 0.2 s", async () => {
  vi.stubEnv("DEADLINE_FACTOR", "1");
  const { ask } = await environmentWith([unanswered]);

  expect(await ask(1)).toEqual([false]);
  expect(reported().lines).not.toEqual([`NCS-010 ${inTime}`]);
});

test("every count of an environment but its first is ended after 0.2 s when DynamoDB does not answer", async () => {
  vi.stubEnv("DEADLINE_FACTOR", "1");
  const { ask, requests } = await environmentWith([unanswered]);

  expect(await ask(4)).toEqual([false, false, false, false]);
  expect(requests()).toBe(2);
  expect(reported().lines[1]).toBe(`NCS-011 ${inTime}`);
});

const usedUp: RequestListener = (_, response) => {
  const minute = Math.floor(Date.now() / 60_000) + 1;
  const numbers = { day: Math.floor(minute / 1_440), dayCount: 1, minute, minuteCount: 1_000 };
  const Item = Object.fromEntries(Object.entries(numbers).map(([name, N]) => [name, { N: String(N) }]));
  const __type = "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException";
  response.writeHead(400).end(JSON.stringify({ __type, Item }));
};

test("a caller whose minute is used up gets 429 while DynamoDB does not answer, and the counts of others stay paused", async () => {
  const { ask, refuse, requests } = await environmentWith([usedUp, unanswered]);
  await refuse("greedy");
  vi.stubEnv("DEADLINE_FACTOR", "1");

  const isCounted: (readonly boolean[])[] = [];
  for (let turn = 0; turn < 4; turn++) {
    isCounted.push(await ask(1));
    await refuse("greedy");
  }

  expect(isCounted.flat()).toEqual([false, false, false, false]);
  expect(requests()).toBe(3);
});

test.each([
  ["throttled", throttled, "ThrottlingException"],
  ["failed by DynamoDB", failed, "$ZodError"],
])("each request asks while counts are %s: an answer stops nobody's count", async (_, answer, cause) => {
  // An answer that takes longer on a busy machine would not be one.
  vi.stubEnv("DEADLINE_FACTOR", "50");
  const { ask, requests } = await environmentWith([counted, answer]);

  await ask(6);
  expect(requests()).toBe(6);
  const line = `NCS-010 DynamoDB: ${cause}`;
  expect(reported()).toEqual({ lines: [line, line, line, line, line], uncounted: 5 });
});

test("a kept connection that was reset is replaced once, and connections that are reset stop the counts", async () => {
  vi.stubEnv("DEADLINE_FACTOR", "50");
  const { ask, requests } = await environmentWith([counted, reset, counted, reset]);

  expect(await ask(2)).toEqual([true, true]);
  expect(requests()).toBe(3);
  expect(await ask(5)).toEqual([false, false, false, false, false]);
  expect(requests()).toBe(7);
  expect(reported().lines).toEqual(["NCS-010 DynamoDB: ECONNRESET", "NCS-011 DynamoDB: ECONNRESET"]);
});

test("the charge of work has the rest of the time of its request's count, and a quarter at least", async () => {
  const slowly: RequestListener = (request, response) => {
    vi.advanceTimersByTime(slowMilliseconds);
    counted(request, response);
  };
  vi.stubEnv("DEADLINE_FACTOR", "100");
  let slowMilliseconds = 12_000;
  const { ask, answer } = await environmentWith([counted], { units: 5 });
  await ask(1);
  answer(slowly);
  const timeout = vi.spyOn(AbortSignal, "timeout");

  await ask(1);
  slowMilliseconds = 90_000;
  await ask(1);

  const limits = timeout.mock.calls.map(([milliseconds]) => milliseconds);
  expect(limits).toEqual([20_000, expect.any(Number), 20_000, 5_000]);
  expect(limits[1]).toBeLessThanOrEqual(8_000);
});

test("work that cannot be charged in time is served, and is charged in one attempt", async () => {
  const { ask, requests } = await environmentWith([counted, unanswered], { units: 5 });

  expect(await ask(1)).toEqual([false]);
  expect(requests()).toBe(2);
  expect(reported()).toEqual({ lines: [`NCS-010 ${inTime}`], uncounted: 1 });
});

const readBoth: Read = async (database, signal) => {
  await database.getItem(phones, { id: "a" }, signal);
  return await database.getItem(records, { id: "a" }, signal);
};
const readPhones: Read = (database, signal) => database.getItem(phones, { id: "a" }, signal);
const found: RequestListener = (_, response) => response.end('{"Responses":{"phones":[]}}');

test("requests get 503 at once after two that DynamoDB did not answer, then one tries once, and all are served again", async () => {
  vi.stubEnv("DEADLINE_FACTOR", "1");
  const [calls, tables] = [{}, { phones: unanswered, records: unanswered }];
  const { statuses, answer } = await environmentWith([unanswered], { read: readBoth, tables, calls });

  expect(await statuses(6)).toEqual(Array(6).fill("503, try again"));
  expect(calls).toEqual({ phones: 6 });
  vi.advanceTimersByTime(1_500);
  expect(await statuses(4)).toEqual(Array(4).fill("503, try again"));
  expect(calls).toEqual({ phones: 7 });

  vi.advanceTimersByTime(1_500);
  vi.stubEnv("DEADLINE_FACTOR", "50");
  answer(counted);
  Object.assign(tables, { phones: found, records: found });
  expect(await statuses(3)).toEqual(Array(3).fill("200"));
});

test("requests stop calling a silent table, while they go on using one that answers and counting", async () => {
  const [calls, tables] = [{}, { phones: found, records: reset }];
  const { statuses, requests } = await environmentWith([counted], { read: readBoth, tables, calls });

  expect(await statuses(6)).toEqual(Array(6).fill("503, try again"));
  expect(calls).toEqual({ phones: 6, records: 6 });
  expect(await statuses(2, readPhones)).toEqual(Array(2).fill("200"));
  expect(requests()).toBe(6 + 8 + 8);
});

test.each([
  ["throttled", throttled],
  ["failed by DynamoDB", failed],
])("every request asks while calls are %s, as these are answers", async (_, phonesAnswer) => {
  vi.stubEnv("DEADLINE_FACTOR", "50");
  // AWS's SDK waits for a random time between attempts: none.
  vi.spyOn(Math, "random").mockReturnValue(0);
  const [calls, tables] = [{}, { phones: phonesAnswer }];
  const { statuses } = await environmentWith([counted], { read: readPhones, tables, calls });

  expect(await statuses(3)).toEqual(Array(3).fill("503, try again"));
  expect(calls).toEqual({ phones: 9 });
});

test.each([
  [5_900, 4],
  [6_000, 2],
])(
  "of four calls that their request ends after %i ms without an answer, with time limits six times as long, %i are made",
  async (milliseconds, made) => {
    vi.stubEnv("DEADLINE_FACTOR", "6");
    const [calls, tables] = [{ phones: 0 }, { phones: unanswered }];
    const { statuses } = await environmentWith([counted], { tables, calls });

    for (let before = 0; before < 4; before++) {
      await statuses(1, async (database, signal) => {
        const ending = new AbortController();
        const call = readPhones(database, AbortSignal.any([signal, ending.signal]));
        await Promise.race([call, vi.waitUntil(() => calls.phones > before)]);
        vi.advanceTimersByTime(milliseconds);
        ending.abort();
        return await call;
      });
    }
    expect(calls.phones).toBe(made);
  },
);

test("calls of a request wait for the one that tries, and are made when it is answered", async () => {
  vi.stubEnv("DEADLINE_FACTOR", "50");
  const tables: Record<string, RequestListener> = { phones: reset };
  const { statuses } = await environmentWith([counted], { read: readPhones, tables });
  await statuses(2);
  vi.advanceTimersByTime(1_500);
  tables.phones = found;

  const keys = Array.from({ length: 300 }, (_, id) => ({ id: String(id) }));
  expect(await statuses(1, (database, signal) => database.getItems(phones, keys, signal))).toEqual(
    Array(1).fill("200"),
  );
});
