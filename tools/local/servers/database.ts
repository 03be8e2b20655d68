import { setTimeout as wait } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import {
  CreateTableCommand,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceInUseException,
  type TableDescription,
} from "@aws-sdk/client-dynamodb";
import { region } from "../declared/aws-names.ts";
import type { LocalTable } from "../declared/declared-table.ts";
import {
  type BackingServer,
  type Credentials,
  type EmbeddedOptions,
  openBackingServer,
} from "./backing-server.ts";

const tableMilliseconds = 30_000;

/** The external DynamoDB if an endpoint is given, otherwise an embedded one. */
export function openDatabase(
  externalEndpoint: string | undefined,
  options: EmbeddedOptions = {},
): Promise<BackingServer> {
  const module = new URL("./database-thread.mjs", import.meta.url);
  return openBackingServer(externalEndpoint, module, "the embedded DynamoDB", options);
}

/**
 * Creates tables, and waits until they are active. An existing table is left as it is.
 * @throws {Error} naming a table that cannot be created, or exists with other keys or indexes.
 */
export async function createTables(
  endpoint: string,
  credentials: Credentials,
  tables: readonly LocalTable[],
): Promise<void> {
  const client = new DynamoDBClient({
    endpoint,
    region,
    credentials,
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 10_000, throwOnRequestTimeout: true },
  });
  try {
    await Promise.all(tables.map((table) => createTable(client, table)));
  } finally {
    client.destroy();
  }
}

async function createTable(client: DynamoDBClient, table: LocalTable): Promise<void> {
  try {
    await client.send(new CreateTableCommand(table));
  } catch (error) {
    if (error instanceof ResourceInUseException) return await requireSameKeys(client, table);
    throw new Error(`Table ${table.TableName} cannot be created: ${String(error)}`, { cause: error });
  }
  const deadline = Date.now() + tableMilliseconds;
  while (Date.now() < deadline) {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: table.TableName }));
    if (Table?.TableStatus === "ACTIVE") return;
    await wait(20);
  }
  throw new Error(`Table ${table.TableName} is not ready after ${tableMilliseconds / 1000} s`);
}

/** Refuses a kept table with other keys or indexes than the service has. */
async function requireSameKeys(client: DynamoDBClient, table: LocalTable): Promise<void> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName: table.TableName }));
  if (Table !== undefined && isDeepStrictEqual(keysOf(Table), keysOf(table))) return;
  throw new Error(
    `Table ${table.TableName} has other keys or indexes than this version of the service needs`,
  );
}

type Keys = Pick<TableDescription, "KeySchema" | "GlobalSecondaryIndexes">;

function keysOf({ KeySchema = [], GlobalSecondaryIndexes = [] }: Keys) {
  const indexes = GlobalSecondaryIndexes.map((index) => ({
    name: index.IndexName,
    keys: namesIn(index.KeySchema),
    attributes: index.Projection?.NonKeyAttributes?.toSorted() ?? index.Projection?.ProjectionType,
  }));
  const byName = (one: { name?: string | undefined }, other: { name?: string | undefined }) =>
    `${one.name}`.localeCompare(`${other.name}`);
  return { keys: namesIn(KeySchema), indexes: indexes.toSorted(byName) };
}

function namesIn(keys: TableDescription["KeySchema"] = []) {
  return keys.map(({ AttributeName, KeyType }) => `${KeyType} ${AttributeName}`);
}
