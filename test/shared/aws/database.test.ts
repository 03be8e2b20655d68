import { setMaxListeners } from "node:events";
import type { RequestListener } from "node:http";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import * as z from "zod";
import {
  deleteItem,
  getItem,
  getItems,
  putItem,
  queryPartition,
  updatedItem,
  updateItem,
} from "../../../shared/aws/database.ts";
import { useTables } from "../../support/database.ts";
import { authorizerContext, captureOutput, eventOf } from "../../support/pipeline.ts";
import { countingServer } from "../../support/signed.ts";

const signal = AbortSignal.timeout(60_000);
setMaxListeners(0, signal);
const anything = z.looseObject({});
const row = z.object({ name: z.string(), filling: z.string() });

beforeAll(useTables);

describe("an item", () => {
  it("comes back as it was put, without the members that were undefined", async () => {
    const address = crypto.randomUUID();
    const item = { address, number: 1.5, list: [1, "two", null], inner: { yes: true }, absent: undefined };

    expect(await putItem("profiles", item, {}, signal)).toBe(true);

    const { absent: _, ...stored } = item;
    expect(await getItem("profiles", { address }, anything, signal)).toEqual(stored);
  });

  it("is undefined only when the table said that there is none", async () => {
    expect(await getItem("profiles", { address: crypto.randomUUID() }, anything, signal)).toBeUndefined();
  });

  it("that does not fit its schema is an error, not an absent item", async () => {
    const address = crypto.randomUUID();
    await putItem("profiles", { address, name: 1 }, {}, signal);

    await expect(getItem("profiles", { address }, row, signal)).rejects.toThrow(z.ZodError);
  });

  it("is written only when the condition holds, and the writer learns which", async () => {
    const key = { address: crypto.randomUUID() };
    const absent = { condition: "attribute_not_exists(address)" };
    const one = { condition: "version = :one", values: { ":one": 1 } };
    const read = () => getItem("profiles", key, anything, signal);

    expect(await putItem("profiles", { ...key, version: 1 }, absent, signal)).toBe(true);
    expect(await putItem("profiles", { ...key, version: 9 }, absent, signal)).toBe(false);
    expect(await read()).toEqual({ ...key, version: 1 });

    const update = { update: "SET version = version + :one", ...one };
    expect(await updateItem("profiles", key, update, signal)).toBe(true);
    expect(await updateItem("profiles", key, update, signal)).toBe(false);
    expect(await read()).toEqual({ ...key, version: 2 });

    expect(await deleteItem("profiles", key, one, signal)).toBe(false);
    expect(await deleteItem("profiles", key, { ...one, values: { ":one": 2 } }, signal)).toBe(true);
    expect(await read()).toBeUndefined();
  });

  it("that is changed tells what the change has come to, or that the condition did not hold", async () => {
    const key = { address: crypto.randomUUID() };
    await putItem("profiles", { ...key, version: 1, name: "a" }, {}, signal);
    const update = {
      update: "SET version = version + :one",
      condition: "version < :two",
      values: { ":one": 1, ":two": 2 },
    };
    const change = () => updatedItem("profiles", key, update, anything, signal);

    expect(await change()).toEqual({ version: 2 });
    expect(await change()).toBeUndefined();
    expect(await getItem("profiles", key, anything, signal)).toEqual({ ...key, version: 2, name: "a" });
  });

  it("in a table whose name is not in the environment is an error that names the variable", async () => {
    vi.stubEnv("TABLE_PROFILES", "");
    const reading = getItem("profiles", { address: "a" }, anything, signal);
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
      putItem("qos-profiles", { catalogue, name, filling: "x".repeat(300_000) }, {}, signal);
    await Promise.all(names.toReversed().map(put));

    const rows = await queryPartition("qos-profiles", catalogue, row, signal);

    expect(rows.map(({ name }) => name)).toEqual(names);
  });

  it("that holds nothing is an empty list", async () => {
    expect(await queryPartition("qos-profiles", crypto.randomUUID(), row, signal)).toEqual([]);
  });

  it("with one item that does not fit its schema is an error, not a shorter list", async () => {
    const catalogue = crypto.randomUUID();
    await putItem("qos-profiles", { catalogue, name: "good", filling: "" }, {}, signal);
    await putItem("qos-profiles", { catalogue, name: "wrong", filling: 1 }, {}, signal);

    await expect(queryPartition("qos-profiles", catalogue, row, signal)).rejects.toThrow(z.ZodError);
  });
});

describe("items by their keys", () => {
  const catalogue = crypto.randomUUID();
  const name = (index: number) => `name-${index}`;

  it("are found in any number; those that are not there are left out", async () => {
    const put = (index: number) =>
      putItem("qos-profiles", { catalogue, name: name(index), filling: "" }, {}, signal);
    await Promise.all(Array.from({ length: 130 }, (_, index) => put(2 * index)));
    const keys = Array.from({ length: 260 }, (_, index) => ({ catalogue, name: name(index) }));

    const rows = await getItems("qos-profiles", keys, row, signal);

    expect(rows.map((found) => found.name).sort()).toEqual(
      Array.from({ length: 130 }, (_, index) => name(2 * index)).sort(),
    );
  });

  it("no keys are no items", async () => {
    expect(await getItems("qos-profiles", [], row, signal)).toEqual([]);
  });

  it("that are more than an answer can hold are all read", async () => {
    const large = crypto.randomUUID();
    const filling = "x".repeat(390_000);
    const keys = Array.from({ length: 50 }, (_, index) => ({ catalogue: large, name: name(index) }));
    await Promise.all(keys.map((key) => putItem("qos-profiles", { ...key, filling }, {}, signal)));

    expect(await getItems("qos-profiles", keys, row, signal)).toHaveLength(50);
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

  // The module keeps one client a process, so each test loads a copy with a client of its own.
  beforeEach(() => {
    vi.resetModules();
    output = captureOutput();
  });
  afterEach(() => {
    output.stop();
    vi.unstubAllEnvs();
    vi.resetModules();
  });

  async function facing(answer: RequestListener) {
    const server = await countingServer(answer);
    vi.stubEnv("AWS_ENDPOINT_URL_DYNAMODB", server.url);
    return { server, database: await import("../../../shared/aws/database.ts") };
  }

  /** How a read ends, in milliseconds, and with what kind of error. */
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
    "has an inner failure": refusing("InternalServerError"),
  };

  it.each(Object.entries(faults))("is unavailable within five seconds when it %s", async (_, fault) => {
    const { server, database } = await facing(fault);

    const { error, milliseconds } = await endOf(
      database.getItem("profiles", { address: "a" }, anything, signal),
    );
    await server.close();

    expect(error).toBe("Unavailable");
    expect(milliseconds).toBeLessThan(5_000);
    expect(server.requests()).toBeLessThanOrEqual(3);
  });

  it("is unavailable within five seconds when nobody listens", async () => {
    const { server, database } = await facing(() => {});
    await server.close();

    const { error, milliseconds } = await endOf(
      database.queryPartition("qos-profiles", "c", anything, signal),
    );

    expect(error).toBe("Unavailable");
    expect(milliseconds).toBeLessThan(5_000);
  });

  it("is unavailable within five seconds when it never answers", async () => {
    const { server, database } = await facing(() => {});

    const { error, milliseconds } = await endOf(
      database.getItem("profiles", { address: "a" }, anything, signal),
    );
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

    const reading = database.getItem("profiles", { address: "a" }, anything, AbortSignal.timeout(300));
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

    const item = await database.getItem("profiles", { address: "a" }, anything, signal);
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

    const rows = await database.queryPartition("qos-profiles", "c", row, signal);
    await server.close();

    expect(rows).toEqual([{ name: "d", filling: "" }]);
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
    const rows = await database.getItems("qos-profiles", keys, row, signal);
    await server.close();

    expect(rows.map(({ name }) => name)).toEqual(["a", "b", "c"]);
    expect(asked.map(({ length }) => length)).toEqual([3, 3, 2, 1]);
  });

  it("that leaves keys out for ever is given up with the request's time", async () => {
    const { server, database } = await facing(async (request, response) => {
      const { RequestItems } = z
        .looseObject({})
        .parse(JSON.parse(Buffer.concat(await request.toArray()).toString()));
      answering(200, JSON.stringify({ UnprocessedKeys: RequestItems }))(request, response);
    });

    const reading = database.getItems("qos-profiles", [{ name: "a" }], row, AbortSignal.timeout(300));
    const { error } = await endOf(reading);
    await server.close();

    expect(error).toBe("AbortError");
  });

  it("is unavailable when it says nothing of the keys, which is not that there are no items", async () => {
    const { server, database } = await facing(answering(200, "{}"));

    const { error } = await endOf(database.getItems("qos-profiles", [{ name: "a" }], row, signal));
    await server.close();

    expect(error).toBe("Unavailable");
  });

  it.each(["ValidationException", "ResourceNotFoundException", "AccessDeniedException"])(
    "is not unavailable when it says that we asked wrongly: %s",
    async (name) => {
      const { server, database } = await facing(refusing(name));

      const { error } = await endOf(database.getItem("profiles", { address: "a" }, anything, signal));
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
    const { serve } = await import("../../../shared/http/lambda.ts");
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
