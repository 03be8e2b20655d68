import { setMaxListeners } from "node:events";
import type { RequestListener } from "node:http";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import { profiles } from "../../../functions/profile/tables.ts";
import { qosProfiles } from "../../../functions/qos-profiles/tables.ts";
import {
  deleteItem,
  getItem,
  getItems,
  putItem,
  queryPartition,
  updatedItem,
  updateItem,
} from "../../../shared/aws/database.ts";
import { withSchema } from "../../../shared/table.ts";
import { useTables } from "../../support/database.ts";
import { authorizerContext, captureOutput, eventOf } from "../../support/pipeline.ts";
import { isWhole } from "../../support/sample.ts";
import { countingServer } from "../../support/signed.ts";

const signal = AbortSignal.timeout(600_000);
setMaxListeners(0, signal);
const anything = z.looseObject({});
const row = z.object({ name: z.string(), filling: z.string() });

// Two tables of the service; the second has a sort key.
const items = withSchema(profiles, anything);
const rows = withSchema(qosProfiles, row);

beforeAll(useTables);

describe("an item", () => {
  it("comes back as it was put, without the members that were undefined", async () => {
    const address = crypto.randomUUID();
    const item = { address, number: 1.5, list: [1, "two", null], inner: { yes: true }, absent: undefined };

    expect(await putItem(items, item, {}, signal)).toBe(true);

    const { absent: _, ...stored } = item;
    expect(await getItem(items, { address }, signal)).toEqual(stored);
  });

  it("is undefined only when the table said that there is none", async () => {
    expect(await getItem(items, { address: crypto.randomUUID() }, signal)).toBeUndefined();
  });

  it("that does not fit its schema is an error, not an absent item", async () => {
    const address = crypto.randomUUID();
    await putItem(items, { address, name: 1 }, {}, signal);

    await expect(getItem(withSchema(profiles, row), { address }, signal)).rejects.toThrow(z.ZodError);
  });

  it("is written only when the condition holds, and the writer learns which", async () => {
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

  it("that is changed returns what the change has come to, or that the condition did not hold", async () => {
    const key = { address: crypto.randomUUID() };
    await putItem(items, { ...key, version: 1, name: "a" }, {}, signal);
    const update = {
      update: "SET version = version + :one",
      condition: "version < :two",
      values: { ":one": 1, ":two": 2 },
    };
    const change = () => updatedItem(items, key, update, anything, signal);

    expect(await change()).toEqual({ version: 2 });
    expect(await change()).toBeUndefined();
    expect(await getItem(items, key, signal)).toEqual({ ...key, version: 2, name: "a" });
  });

  it("in a table whose name is not in the environment is an error that names the variable", async () => {
    vi.stubEnv("TABLE_PROFILES", "");
    const reading = getItem(items, { address: "a" }, signal);
    vi.unstubAllEnvs();
    await expect(reading).rejects.toThrow("TABLE_PROFILES");
  });
});

describe("a partition", () => {
  it("is read to its end over all its pages, in the order of its sort key", async () => {
    const catalogue = crypto.randomUUID();
    const names = Array.from({ length: 12 }, (_, index) => `name-${String(index).padStart(2, "0")}`);
    // A page of DynamoDB ends at 1 MB.
    const put = (name: string) =>
      putItem(rows, { catalogue, name, filling: "x".repeat(300_000) }, {}, signal);
    await Promise.all(names.toReversed().map(put));

    const found = await queryPartition(rows, catalogue, signal);

    expect(found.map(({ name }) => name)).toEqual(names);
  });

  it("that holds nothing is an empty list", async () => {
    expect(await queryPartition(rows, crypto.randomUUID(), signal)).toEqual([]);
  });

  it("with one item that does not fit its schema is an error, not a shorter list", async () => {
    const catalogue = crypto.randomUUID();
    await putItem(rows, { catalogue, name: "good", filling: "" }, {}, signal);
    await putItem(rows, { catalogue, name: "wrong", filling: 1 }, {}, signal);

    await expect(queryPartition(rows, catalogue, signal)).rejects.toThrow(z.ZodError);
  });
});

describe("items by their keys", () => {
  const catalogue = crypto.randomUUID();
  const name = (index: number) => `name-${index}`;

  it("are found in any number; those that are not there are left out", async () => {
    const put = (index: number) => putItem(rows, { catalogue, name: name(index), filling: "" }, {}, signal);
    await Promise.all(Array.from({ length: 130 }, (_, index) => put(2 * index)));
    const keys = Array.from({ length: 260 }, (_, index) => ({ catalogue, name: name(index) }));

    const found = await getItems(rows, keys, signal);

    expect(found.map((one) => one.name).sort()).toEqual(
      Array.from({ length: 130 }, (_, index) => name(2 * index)).sort(),
    );
  });

  it("no keys are no items", async () => {
    expect(await getItems(rows, [], signal)).toEqual([]);
  });

  // A table that leaves keys out says so in the same way, however few they are.
  it.runIf(isWhole)("that are more than an answer can hold are all read", async () => {
    const large = crypto.randomUUID();
    const filling = "x".repeat(390_000);
    const keys = Array.from({ length: 50 }, (_, index) => ({ catalogue: large, name: name(index) }));
    // One after the other: 20 MB at once are more than a busy machine stores in time.
    for (const key of keys) await putItem(rows, { ...key, filling }, {}, signal);

    expect(await getItems(rows, keys, signal)).toHaveLength(50);
  });
});

describe("a table that does not answer as it should", () => {
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
    vi.unstubAllEnvs();
    vi.resetModules();
  });

  /** A server with these answers, and the module with a client of it. */
  async function facing(answer: RequestListener) {
    const server = await countingServer(answer);
    vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", server.url);
    vi.stubEnv("DEADLINE_FACTOR", "1");
    const database = await import("../../../shared/aws/database.ts");
    return { server, database };
  }

  /** The name of the error of a call, and its duration. */
  async function endOf(reading: Promise<unknown>) {
    const started = performance.now();
    const error = await reading.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    const milliseconds = performance.now() - started;
    return { error: error instanceof Error ? error.name : error, milliseconds };
  }

  const faults: Record<string, RequestListener> = {
    "answers 500": answering(500, JSON.stringify({ __type: "InternalServerError" })),
    "answers 503 without a word": answering(503, ""),
    "answers with a page of HTML": answering(200, "<html>It works!</html>"),
    "answers half": answering(200, '{"Item":'),
    "refuses with a page of HTML": answering(400, "<html>Bad request</html>"),
    "cuts the connection": (request) => void request.socket.destroy(),
    "cuts the connection in the middle of its answer": (_, response) => {
      response.writeHead(200, { "content-length": "100" });
      response.write('{"Item":', () => response.destroy());
    },
    "refuses for the provisioned throughput": refusing("ProvisionedThroughputExceededException"),
    "refuses for the rate": refusing("ThrottlingException"),
    "refuses for the account's rate": refusing("RequestLimitExceeded"),
    "refuses for a transaction of another program": refusing("TransactionConflictException"),
    "has an inner failure": refusing("InternalServerError"),
  };

  it.each(Object.entries(faults))("is unavailable within five seconds when it %s", async (_, fault) => {
    const { server, database } = await facing(fault);

    const { error, milliseconds } = await endOf(database.getItem(items, { address: "a" }, signal));
    await server.close();

    expect(error).toBe("Unavailable");
    expect(milliseconds).toBeLessThan(5_000);
    expect(server.requests()).toBeLessThanOrEqual(3);
  });

  it.each(Object.entries(faults))("is unavailable to a count when it %s", async (_, fault) => {
    const { server, database } = await facing(fault);
    const count = { update: "ADD items :one", condition: "attribute_exists(address)", values: { ":one": 1 } };

    const counting = database.updatedItem(items, { address: "a" }, count, anything, signal);
    const { error, milliseconds } = await endOf(counting);
    await server.close();

    expect(error).toBe("Unavailable");
    expect(milliseconds).toBeLessThan(5_000);
    expect(server.requests()).toBeLessThanOrEqual(3);
  });

  it("is unavailable within five seconds when nobody listens", async () => {
    const { server, database } = await facing(() => {});
    await server.close();

    const reading = database.queryPartition(rows, "c", signal);
    const { error, milliseconds } = await endOf(reading);

    expect(error).toBe("Unavailable");
    await expect(reading).rejects.toThrow("DynamoDB: ECONNREFUSED");
    expect(milliseconds).toBeLessThan(5_000);
  });

  it("is unavailable within five seconds when it never answers", async () => {
    const { server, database } = await facing(() => {});

    const { error, milliseconds } = await endOf(database.getItem(items, { address: "a" }, signal));
    await server.close();

    expect(error).toBe("Unavailable");
    expect(milliseconds).toBeLessThan(5_000);
    expect(server.requests()).toBe(3);
  });

  const endless: RequestListener = (_, response) => {
    response.writeHead(200, { "content-type": "application/x-amz-json-1.0" }).write('{"Item":');
  };
  it.each([
    ["does not answer", () => {}],
    ["does not end its answer", endless],
  ])("is given up as soon as the request's time is over when it %s", async (_, answer) => {
    const { server, database } = await facing(answer);

    const reading = database.getItem(items, { address: "a" }, AbortSignal.timeout(300));
    const { error, milliseconds } = await endOf(reading);
    await server.close();

    expect(error).toBe("Unavailable");
    expect(milliseconds).toBeLessThan(3_000);
  });

  it("answers after all when only its first answer is lost", async () => {
    let requests = 0;
    const { server, database } = await facing((request, response) => {
      requests++;
      if (requests === 1) request.socket.destroy();
      else answering(200, '{"Item":{"address":{"S":"a"}}}')(request, response);
    });

    const item = await database.getItem(items, { address: "a" }, signal);
    await server.close();

    expect(item).toEqual({ address: "a" });
  });

  it("follows pages that are empty, and goes on where each one ended", async () => {
    const pages = [
      '{"Items":[],"LastEvaluatedKey":{"name":{"S":"b"}}}',
      '{"LastEvaluatedKey":{"name":{"S":"c"}}}',
    ];
    const last = '{"Items":[{"name":{"S":"d"},"filling":{"S":""}}]}';
    const starts: unknown[] = [];
    const { server, database } = await facing(async (request, response) => {
      const sent = z.looseObject({}).parse(JSON.parse(Buffer.concat(await request.toArray()).toString()));
      starts.push(sent.ExclusiveStartKey);
      answering(200, pages[starts.length - 1] ?? last)(request, response);
    });

    const found = await database.queryPartition(rows, "c", signal);
    await server.close();

    expect(found).toEqual([{ name: "d", filling: "" }]);
    expect(starts).toEqual([undefined, { name: { S: "b" } }, { name: { S: "c" } }]);
  });

  it("is asked again for the keys that it left out, until it has answered for all", async () => {
    const asked: unknown[][] = [];
    const { server, database } = await facing(async (request, response) => {
      const batch = z.object({
        RequestItems: z.record(z.string(), z.object({ Keys: z.array(z.unknown()) })),
      });
      const { RequestItems } = batch.parse(JSON.parse(Buffer.concat(await request.toArray()).toString()));
      const [[table = "", { Keys } = { Keys: [] }] = []] = Object.entries(RequestItems);
      asked.push(Keys);
      // Nothing at first, then one item at a time.
      const answered = asked.length === 1 ? [] : Keys.slice(0, 1);
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
    await server.close();

    expect(found.map(({ name }) => name)).toEqual(["a", "b", "c"]);
    expect(asked.map(({ length }) => length)).toEqual([3, 3, 2, 1]);
  });

  it("that leaves keys out for ever is given up with the request's time", async () => {
    const { server, database } = await facing(async (request, response) => {
      const { RequestItems } = z
        .looseObject({})
        .parse(JSON.parse(Buffer.concat(await request.toArray()).toString()));
      answering(200, JSON.stringify({ UnprocessedKeys: RequestItems }))(request, response);
    });

    const reading = database.getItems(rows, [{ name: "a" }], AbortSignal.timeout(300));
    const { error } = await endOf(reading);
    await server.close();

    // Aborted in the pause between two calls, or during a call.
    expect(["AbortError", "Unavailable"]).toContain(error);
  });

  it("is unavailable when it says nothing of the keys, which is not that there are no items", async () => {
    const { server, database } = await facing(answering(200, "{}"));

    const { error } = await endOf(database.getItems(rows, [{ name: "a" }], signal));
    await server.close();

    expect(error).toBe("Unavailable");
  });

  it.each(["ValidationException", "ResourceNotFoundException", "AccessDeniedException"])(
    "is not unavailable when it says that we asked wrongly: %s",
    async (name) => {
      const { server, database } = await facing(refusing(name));

      const { error } = await endOf(database.getItem(items, { address: "a" }, signal));
      await server.close();

      expect(error).toBe(name);
      expect(server.requests()).toBe(1);
    },
  );

  it("lets a request through uncounted, and says so in the log, when it is the table of the quotas", async () => {
    const { server } = await facing(() => {});
    await server.close();
    vi.stubEnv("RATE_LIMIT_PER_MINUTE", "1");
    vi.stubEnv("DAILY_QUOTA", "1");
    const { serve } = await import("../../../shared/http/serve.ts");
    const { endpoint } = await import("../../../shared/endpoint.ts");
    const declaration = endpoint({
      id: "test/uncounted",
      operationId: "uncounted",
      summary: "Uncounted",
      description: "Uncounted.",
      method: "GET",
      path: "/uncounted",
      aliases: [],
      scope: "qos-profiles:read",
      responses: { 200: z.object({}) },
      errors: [],
    });

    const event = eventOf({ authorizer: authorizerContext() });
    const result = await serve(declaration, async ({ reply }) => reply(200, {}))(event, {
      getRemainingTimeInMillis: () => 10_000,
    });

    expect(result.statusCode).toBe(200);
    expect(output.text()).toContain("NCS-010");
  });
});
