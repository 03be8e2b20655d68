import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { densityCallers } from "../../functions/population-density/callers/tables.ts";
import { type BackingServer, embeddedCredentials } from "../../tools/local/servers/backing-server.ts";
import { createTables, openDatabase } from "../../tools/local/servers/database.ts";
import { declaredTable } from "../../tools/local/servers/declared-table.ts";
import { type MeteredDatabase, openMeteredDatabase } from "../../tools/local/servers/metered-database.ts";

const TableName = "callers";
const throttled = { name: "ThrottlingException" };
let now = 0;
let server: BackingServer;
let metered: MeteredDatabase;
let client: DynamoDBClient;

beforeAll(async () => {
  server = await openDatabase(undefined);
  const tables = [TableName, "others"].map((name) => declaredTable(densityCallers, name));
  await createTables(server.endpoint, embeddedCredentials, tables);
  metered = await openMeteredDatabase(server.endpoint, () => now);
  const { url: endpoint } = metered;
  client = new DynamoDBClient({
    endpoint,
    region: "eu-west-1",
    credentials: embeddedCredentials,
    maxAttempts: 1,
  });
});
beforeEach(() => metered.limit(TableName));
afterAll(async () => {
  client.destroy();
  await metered.close();
  await server.close();
});

const keyOf = (caller: string) => ({ caller: { S: caller } });
const put = (caller: string, note = "", table = TableName) =>
  client.send(new PutItemCommand({ TableName: table, Item: { ...keyOf(caller), note: { S: note } } }));
const get = (caller: string) =>
  client.send(new GetItemCommand({ TableName, Key: keyOf(caller), ConsistentRead: true }));
const callers = (count: number) => Array.from({ length: count }, (_, index) => `caller-${index}`);

test("a table gives its units of a second at once and refuses the next call, independently of other tables", async () => {
  metered.limit(TableName, { reads: 1, writes: 2 });
  await put("a");
  await put("b");
  await expect(put("c")).rejects.toMatchObject(throttled);
  expect((await get("c")).Item).toBeUndefined();
  await put("c", "", "others");

  now += 500;
  await put("c");
  expect((await get("c")).Item).toMatchObject(keyOf("c"));
  await expect(get("c")).rejects.toMatchObject(throttled);
});

test("a batch is executed in part, and refused when nothing of it can be", async () => {
  metered.limit(TableName, { reads: 3, writes: 4 });
  const RequestItems = {
    [TableName]: callers(6).map((caller) => ({ PutRequest: { Item: keyOf(caller) } })),
  };
  const written = await client.send(new BatchWriteItemCommand({ RequestItems }));
  expect(written.UnprocessedItems?.[TableName]).toEqual(RequestItems[TableName]?.slice(4));

  const Keys = callers(10).map(keyOf);
  const reading = new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys } } });
  const read = await client.send(reading);
  expect(read.Responses?.[TableName]).toHaveLength(4);
  expect(read.UnprocessedKeys?.[TableName]?.Keys).toEqual(Keys.slice(6));
  await expect(client.send(reading)).rejects.toMatchObject(throttled);
});
