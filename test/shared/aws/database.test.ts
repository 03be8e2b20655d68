import { setMaxListeners } from "node:events";
import type { RequestListener, ServerResponse } from "node:http";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { profiles } from "../../../functions/profile/tables.ts";
import { qosProfiles } from "../../../functions/qos-profiles/tables.ts";
import {
  deleteItem,
  getItem,
  getItems,
  insertItem,
  insertItems,
  putItem,
  putOrFind,
  queryPartition,
  updateAndReturn,
  updateItem,
  updateOrFind,
} from "../../../shared/aws/database.ts";
import { withPatientCalls } from "../../../shared/aws/patient-calls.ts";
import { tableVariable, withSchema } from "../../../shared/table.ts";
import { openMeteredDatabase } from "../../../tools/bench/metered-database.ts";
import { useTables } from "../../support/database.ts";
import { captureOutput } from "../../support/pipeline.ts";
import { serverOfTest } from "../../support/signed.ts";

const signal = AbortSignal.timeout(600_000);
setMaxListeners(0, signal);
const anything = z.looseObject({});
const row = z.object({ name: z.string(), filling: z.string() });

// Two tables of the service; the second has a sort key.
const items = withSchema(profiles, anything);
const rows = withSchema(qosProfiles, row);

beforeAll(useTables);

test("an item is read as it was stored, without undefined members", async () => {
  const address = crypto.randomUUID();
  const item = { address, number: 1.5, list: [1, "two", null], inner: { yes: true }, absent: undefined };

  expect(await putItem(items, item, {}, signal)).toBe(true);

  const { absent: _, ...stored } = item;
  expect(await getItem(items, { address }, signal)).toEqual(stored);
});

test("a read fails when an item does not match its schema", async () => {
  const address = crypto.randomUUID();
  await putItem(items, { address, name: 1 }, {}, signal);

  await expect(getItem(withSchema(profiles, row), { address }, signal)).rejects.toThrow(z.ZodError);
});

test("putItem, updateItem and deleteItem write only if the condition holds, and return whether it does", async () => {
  const key = { address: crypto.randomUUID() };
  const absent = { condition: "attribute_not_exists(address)" };
  const one = { condition: "version = :one", values: { ":one": 1 } };
  const read = () => getItem(items, key, signal);

  expect(await putItem(items, { ...key, version: 1 }, absent, signal)).toBe(true);
  expect(await putItem(items, { ...key, version: 9 }, absent, signal)).toBe(false);
  expect(await read()).toEqual({ ...key, version: 1 });

  const update = { update: "SET version = version + :one", ...one };
  expect(await updateItem(items, key, update, signal)).toBe(true);
  expect(await updateItem(items, key, update, signal)).toBe(false);
  expect(await read()).toEqual({ ...key, version: 2 });

  expect(await deleteItem(items, key, one, signal)).toBe(false);
  expect(await deleteItem(items, key, { ...one, values: { ":one": 2 } }, signal)).toBe(true);
  expect(await read()).toBeUndefined();
});

test("putOrFind and updateOrFind return the item that they find where the condition does not hold", async () => {
  const key = { address: crypto.randomUUID() };
  const isOne = { condition: "version = :one", values: { ":one": 1 } };
  const update = { update: "SET version = version + :one", ...isOne };

  const change = () => updateOrFind(items, key, update, anything, signal);

  expect(await change()).toEqual({ found: undefined });
  expect(await putOrFind(items, { ...key, version: 1 }, isOne, signal)).toEqual({ found: undefined });
  await putItem(items, { ...key, version: 1, name: "a" }, {}, signal);
  expect(await change()).toEqual({ updated: { version: 2 } });
  const stored = { ...key, version: 2, name: "a" };
  expect(await change()).toEqual({ found: stored });
  expect(await putOrFind(items, { ...key, version: 1 }, isOne, signal)).toEqual({ found: stored });
  expect(await getItem(items, key, signal)).toEqual(stored);
});

test("an insertion creates an item, and leaves one with its key as it is", async () => {
  const address = crypto.randomUUID();
  const item = { address, number: 1.5, list: ["a", null], absent: undefined };
  const before = await insertItem(items, item, signal);
  const again = await insertItem(items, { address, name: "b" }, signal);

  const { absent: _, ...stored } = item;
  expect({ before, again, is: await getItem(items, { address }, signal) }).toEqual({
    before: true,
    again: false,
    is: stored,
  });
});

test("an insertion of 60 items takes three calls, and leaves the two that are there as they are", async () => {
  const group = crypto.randomUUID();
  const all = Array.from({ length: 60 }, (_, index) => ({ address: `${group}/${index}`, name: "new" }));
  const there = [all[3], all[59]].map((item) => ({ ...item, address: item?.address ?? "", name: "there" }));
  for (const item of there) await insertItem(items, item, signal);

  const isInserted = await insertItems(items, all, signal);

  expect(isInserted.flatMap((is, index) => (is ? [] : [index]))).toEqual([3, 59]);
  const stored = await getItems(
    items,
    all.map(({ address }) => ({ address })),
    signal,
  );
  expect(stored).toHaveLength(60);
  expect(stored.filter(({ name }) => name === "there")).toEqual(expect.arrayContaining(there));
});

test("an insertion executes again what a table of 10 write units a second throttled, and inserts nothing twice", async () => {
  const metered = await openMeteredDatabase(process.env.AWS_ENDPOINT_URL_DYNAMODB ?? "");
  metered.limit(process.env[tableVariable(profiles)] ?? "", { reads: 10, writes: 10 });
  vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", metered.url);
  const group = crypto.randomUUID();
  const all = Array.from({ length: 22 }, (_, index) => ({ address: `${group}/${index}` }));
  try {
    const isInserted = await withPatientCalls(() => insertItems(items, all, signal));
    expect(isInserted).toEqual(all.map(() => true));
    expect(metered.throttledCalls()).toBeGreaterThan(0);
  } finally {
    vi.unstubAllEnvs();
    useTables();
    await metered.close();
  }
  expect(await getItems(items, all, signal)).toHaveLength(22);
});

test("an update returns the changed members, or undefined if the condition does not hold", async () => {
  const key = { address: crypto.randomUUID() };
  await putItem(items, { ...key, version: 1, name: "a" }, {}, signal);
  const update = {
    update: "SET version = version + :one",
    condition: "version < :two",
    values: { ":one": 1, ":two": 2 },
  };
  const change = () => updateAndReturn(items, key, update, anything, signal);

  expect(await change()).toEqual({ version: 2 });
  expect(await change()).toBeUndefined();
  expect(await getItem(items, key, signal)).toEqual({ ...key, version: 2, name: "a" });
});

test("a query reads all items of all pages in the order of the sort key", async () => {
  const catalogue = crypto.randomUUID();
  const names = Array.from({ length: 12 }, (_, index) => `name-${String(index).padStart(2, "0")}`);
  // A page of DynamoDB ends at 1 MB.
  const put = (name: string) => putItem(rows, { catalogue, name, filling: "x".repeat(300_000) }, {}, signal);
  await Promise.all(names.toReversed().map(put));

  const found = await queryPartition(rows, catalogue, signal);

  expect(found.map(({ name }) => name)).toEqual(names);
});

const nameOf = (index: number) => `name-${index}`;

test("a batch reads the items that exist of any number of keys", async () => {
  const catalogue = crypto.randomUUID();
  const put = (index: number) => putItem(rows, { catalogue, name: nameOf(index), filling: "" }, {}, signal);
  await Promise.all(Array.from({ length: 130 }, (_, index) => put(2 * index)));
  const keys = Array.from({ length: 260 }, (_, index) => ({ catalogue, name: nameOf(index) }));

  const found = await getItems(rows, keys, signal);

  expect(found.map((one) => one.name).sort()).toEqual(
    Array.from({ length: 130 }, (_, index) => nameOf(2 * index)).sort(),
  );
});

describe("a faulty DynamoDB", () => {
  const answering =
    (status: number, body: string): RequestListener =>
    (_, response) =>
      response.writeHead(status, { "content-type": "application/x-amz-json-1.0" }).end(body);
  const refusing = (name: string) =>
    answering(400, JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: "no" }));

  let output: ReturnType<typeof captureOutput>;

  // The module keeps one client for the process, so each test loads a copy of the module.
  beforeEach(() => {
    vi.resetModules();
    output = captureOutput();
  });
  afterEach(() => {
    output.stop();
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  });

  /** A server with these answers, and the module with a client of it. */
  async function facing(answer: RequestListener) {
    const server = await serverOfTest(answer);
    vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", server.url);
    const database = await import("../../../shared/aws/database.ts");
    return { server, database };
  }

  const faults: Record<string, RequestListener> = {
    "answers 500": answering(500, JSON.stringify({ __type: "InternalServerError" })),
    "answers 503 without a body": answering(503, ""),
    "answers with a page of HTML": answering(200, "<html>It works!</html>"),
    "answers half a body": answering(200, '{"Item":'),
    "refuses with a page of HTML": answering(400, "<html>Bad request</html>"),
    "cuts the connection": (request) => void request.socket.destroy(),
    "cuts the connection in the middle of its answer": (_, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write('{"Item":', () => response.destroy());
    },
    "throttles for the provisioned throughput": refusing("ProvisionedThroughputExceededException"),
    "throttles for the rate": refusing("ThrottlingException"),
    "throttles for the account's rate": refusing("RequestLimitExceeded"),
    "has an internal error": refusing("InternalServerError"),
  };

  test.each(Object.entries(faults))(
    "a read throws Unavailable after at most three requests when DynamoDB %s",
    async (_, answer) => {
      const { server, database } = await facing(answer);
      // AWS's SDK waits for a random time between attempts: none.
      vi.spyOn(Math, "random").mockReturnValue(0);

      const reading = database.getItem(items, { address: "a" }, signal);

      await expect(reading).rejects.toMatchObject({ name: "Unavailable" });
      expect(server.requests()).toBeLessThanOrEqual(3);
    },
  );

  test("calls that serve no caller, such as a worker's records, go on while DynamoDB does not answer", async () => {
    const { server, database } = await facing((request) => void request.socket.destroy());
    for (let turn = 0; turn < 4; turn++)
      await expect(database.getItem(items, { address: "a" }, signal)).rejects.toThrow("DynamoDB: ");
    expect(server.requests()).toBe(12);
  });

  test("a query fails as Unavailable when no server listens", async () => {
    vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", "http://127.0.0.1:9");
    const database = await import("../../../shared/aws/database.ts");

    const reading = database.queryPartition(rows, "c", signal);

    await expect(reading).rejects.toMatchObject({
      name: "Unavailable",
      message: "DynamoDB: ECONNREFUSED",
    });
  });

  const endless = (response: ServerResponse) => {
    response.writeHead(200, { "content-type": "application/x-amz-json-1.0" }).write('{"Item":');
  };
  test.each([
    ["does not answer", () => {}],
    ["does not finish its answer", endless],
  ])("a read that is aborted fails as Unavailable and is not repeated when DynamoDB %s", async (_, begin) => {
    const aborting = new AbortController();
    const { server, database } = await facing((_, response) => {
      begin(response);
      setTimeout(() => aborting.abort(), 100);
    });

    const reading = database.getItem(items, { address: "a" }, aborting.signal);

    await expect(reading).rejects.toMatchObject({ name: "Unavailable" });
    expect(server.requests()).toBe(1);
  });

  test("a read returns the item when only the first answer is lost", async () => {
    let requests = 0;
    const { database } = await facing((request, response) => {
      requests++;
      if (requests === 1) request.socket.destroy();
      else answering(200, '{"Item":{"address":{"S":"a"}}}')(request, response);
    });

    const item = await database.getItem(items, { address: "a" }, signal);

    expect(item).toEqual({ address: "a" });
  });

  test("each step that is taken from the SDK's stack is one that the SDK has", async () => {
    const { leanClient } = await import("../../../shared/aws/database-client.ts");
    const left = leanClient({}).middlewareStack.identify();

    const removed = new DynamoDBClient({}).middlewareStack.identify().filter((step) => !left.includes(step));

    expect(removed.map((step) => step.replace(/ - .*/, "")).sort()).toEqual([
      "getUserAgentMiddleware",
      "loggerMiddleware",
      "recursionDetectionMiddleware",
    ]);
  });

  test("a call to DynamoDB has neither a user agent nor a trace header", async () => {
    let names: string[] = [];
    const { database } = await facing((request, response) => {
      names = Object.keys(request.headers);
      answering(200, "{}")(request, response);
    });
    vi.stubEnv("AWS_LAMBDA_FUNCTION_NAME", "retrieve");
    vi.stubEnv("_X_AMZN_TRACE_ID", "Root=1-5759e988-bd862e3fe1be46a994272793");

    await database.getItem(items, { address: "a" }, signal);

    expect(names).toContain("x-amz-target");
    expect(names.filter((name) => /user-agent|trace/.test(name))).toEqual([]);
  });

  test("a query follows empty pages and continues where each one ended", async () => {
    const pages = [
      '{"Items":[],"LastEvaluatedKey":{"name":{"S":"b"}}}',
      '{"LastEvaluatedKey":{"name":{"S":"c"}}}',
    ];
    const last = '{"Items":[{"name":{"S":"d"},"filling":{"S":""}}]}';
    const starts: unknown[] = [];
    const { database } = await facing(async (request, response) => {
      const query = z.looseObject({}).parse(JSON.parse(Buffer.concat(await request.toArray()).toString()));
      starts.push(query.ExclusiveStartKey);
      answering(200, pages[starts.length - 1] ?? last)(request, response);
    });

    const found = await database.queryPartition(rows, "c", signal);

    expect(found).toEqual([{ name: "d", filling: "" }]);
    expect(starts).toEqual([undefined, { name: { S: "b" } }, { name: { S: "c" } }]);
  });

  test("a batch asks for unprocessed keys again until all are read", async () => {
    const requested: unknown[][] = [];
    const { database } = await facing(async (request, response) => {
      const batch = z.object({
        RequestItems: z.record(z.string(), z.object({ Keys: z.array(z.unknown()) })),
      });
      const { RequestItems } = batch.parse(JSON.parse(Buffer.concat(await request.toArray()).toString()));
      const [[table = "", { Keys } = { Keys: [] }] = []] = Object.entries(RequestItems);
      requested.push(Keys);
      // Nothing at first, then one item at a time.
      const answered = requested.length === 1 ? [] : Keys.slice(0, 1);
      const left = Keys.slice(answered.length);
      const item = (key: unknown) => ({ ...z.looseObject({}).parse(key), filling: { S: "" } });
      const body = {
        ...(answered.length === 0 ? {} : { Responses: { [table]: answered.map(item) } }),
        UnprocessedKeys: left.length === 0 ? {} : { [table]: { Keys: left } },
      };
      answering(200, JSON.stringify(body))(request, response);
    });

    const keys = ["a", "b", "c"].map((name) => ({ name }));
    const found = await database.getItems(rows, keys, signal);

    expect(found.map(({ name }) => name)).toEqual(["a", "b", "c"]);
    expect(requested.map(({ length }) => length)).toEqual([3, 3, 2, 1]);
  });

  test.each(["ValidationException", "ResourceNotFoundException", "AccessDeniedException"])(
    "a read fails with %s after one attempt",
    async (name) => {
      const { server, database } = await facing(refusing(name));

      await expect(database.getItem(items, { address: "a" }, signal)).rejects.toMatchObject({ name });
      expect(server.requests()).toBe(1);
    },
  );
});
