import { createRequire } from "node:module";
import {
  DynamoDBClient,
  GetItemCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { densityCallers } from "../../functions/population-density/callers/tables.ts";
import type { BackingServer } from "../../tools/local/servers/backing-server.ts";
import { embeddedCredentials } from "../../tools/local/servers/backing-server.ts";
import { createTables, openDatabase } from "../../tools/local/servers/database.ts";
import { prepareStore } from "../../tools/local/servers/database-store.mjs";
import { declaredTable } from "../../tools/local/servers/declared-table.ts";

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
  const waiting = [...clients];
  const calls = clients.map(async ({ signal }, index) => {
    const command =
      index % 2 === 0
        ? new UpdateItemCommand(update)
        : new TransactWriteItemsCommand({ TransactItems: [{ Update: update }] });
    await client.send(command as UpdateItemCommand, { abortSignal: signal });
    // Each answer lets 50 others disconnect, so that few are answered.
    for (const other of waiting.splice(0, 50)) other.abort();
  });
  const results = await Promise.allSettled(calls);

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
