import { createRequire } from "node:module";
import { setTimeout as wait } from "node:timers/promises";
import {
  DynamoDBClient,
  GetItemCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { densityCallers } from "../../functions/population-density/callers/tables.ts";
import type { BackingServer } from "../../tools/local/servers/backing-server.ts";
import { embeddedCredentials } from "../../tools/local/servers/backing-server.ts";
import { createTables, openDatabase } from "../../tools/local/servers/database.ts";
import { prepareStore } from "../../tools/local/servers/database-store.mjs";
import { declaredTable } from "../../tools/local/servers/declared-table.ts";
import { keepParsedExpressions } from "../../tools/local/servers/parsed-expressions.mjs";

const require = createRequire(import.meta.url);

const TableName = "callers";
const Key = { caller: { S: "a" } };
const update = {
  TableName,
  Key,
  UpdateExpression: "SET places = :places",
  ExpressionAttributeValues: { ":places": { M: {} } },
};

let server: BackingServer;
let client: DynamoDBClient;
beforeAll(async () => {
  server = await openDatabase(undefined);
  await createTables(server.endpoint, embeddedCredentials, [declaredTable(densityCallers, TableName)]);
  client = new DynamoDBClient({
    endpoint: server.endpoint,
    region: "eu-west-1",
    credentials: embeddedCredentials,
    maxAttempts: 1,
    requestHandler: { httpAgent: { keepAlive: true, maxSockets: 600 } },
  });
});
afterAll(async () => {
  client.destroy();
  await server.close();
});

test("the embedded DynamoDB answers after 500 clients disconnected while they waited for one item", async () => {
  const clients = Array.from({ length: 500 }, () => new AbortController());
  const calls = clients.map(({ signal }, index) => {
    const command =
      index % 2 === 0
        ? new UpdateItemCommand(update)
        : new TransactWriteItemsCommand({ TransactItems: [{ Update: update }] });
    return client.send(command as UpdateItemCommand, { abortSignal: signal });
  });
  const ended = Promise.allSettled(calls);
  for (const [index, one] of clients.entries()) {
    if (index % 50 === 0) await wait(5);
    one.abort();
  }
  const results = await ended;

  // The calls were aborted before they were answered.
  expect(results.filter(({ status }) => status === "rejected").length).toBeGreaterThan(250);
  const read = new GetItemCommand({ TableName, Key, ConsistentRead: true });
  const found = await client.send(read, { abortSignal: AbortSignal.timeout(60_000) });
  expect(found.Item ?? Key).toMatchObject(Key);
});

test("the store of the embedded DynamoDB closes an iterator whose items were read", async () => {
  const stores = require("dynalite/db");
  const opened = prepareStore();
  const { db } = stores.create({});
  await opened();
  const { values } = db;
  let iterator: { readonly next: () => Promise<unknown> } | undefined;
  db.values = (options: object) => {
    iterator = values.call(db, options);
    return iterator;
  };
  for await (const _ of db.createValueStream({}));
  await expect(iterator?.next()).rejects.toMatchObject({ code: "LEVEL_ITERATOR_NOT_OPEN" });
});

test("an expression that was parsed before gives the same as one that is parsed for the first time", () => {
  const parsers = [require("dynalite/db/conditionParser"), require("dynalite/db/updateParser")];
  const parsedAnew = parsers.map(({ parse }) => parse);
  keepParsedExpressions();
  const isReserved = (name: string) => name === "day";
  const outcome = (
    parse: (text: string, options: object) => unknown,
    text: string,
    names: object,
    values: object,
  ) => {
    const context = {
      attrNames: names,
      attrVals: values,
      unusedAttrNames: { ...names },
      unusedAttrVals: { ...values },
      isReserved,
    };
    try {
      return { parsed: parse(text, { context }), context };
    } catch (error) {
      return { error: String(error) };
    }
  };

  fc.assert(
    fc.property(
      fc.constantFrom(
        "attribute_exists(#a) AND (places < :a OR NOT begins_with(#b.constructor[1], :b))",
        "size(:a) > :b AND contains(#a, :a)",
        "places BETWEEN :a AND :b",
        "attribute_type(places, :a)",
        "day = :a",
        "places = (",
        "SET #a = if_not_exists(places, :a) + :b REMOVE #b",
        "SET places = list_append(:a, :b), #a.#b = :a",
        "ADD places :a DELETE #a :b",
      ),
      fc.constantFrom(
        { "#a": "one", "#b": "two" },
        { "#a": "two", "#b": "one" },
        { "#a": "one", "#c": "three" },
      ),
      fc.dictionary(
        fc.constantFrom(":a", ":b", ":c"),
        fc.oneof(
          fc.constantFrom("S", "N", "zero").map((S) => ({ S })),
          fc.integer().map((number) => ({ N: String(number) })),
          fc.constant({ NS: ["1"] }),
          fc.constant({ L: [{ S: "a" }] }),
        ),
      ),
      (text, names, values) => {
        for (const [index, { parse }] of parsers.entries())
          expect(outcome(parse, text, names, values)).toEqual(
            outcome(parsedAnew[index], text, names, values),
          );
      },
    ),
  );
});
