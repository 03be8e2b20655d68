import { setTimeout as wait } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceInUseException,
  type TableDescription,
} from "@aws-sdk/client-dynamodb";
import { region } from "../template/physical-names.ts";
import type { LocalTable } from "../template/tables.ts";
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
 * Creates the tables of a template, and waits until they are active.
 *
 * An existing table is left as it is. Settings that have no effect on one machine, such as time to live and backups,
 * are not applied.
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
    await client.send(new CreateTableCommand(createTableInput(table)));
  } catch (error) {
    if (error instanceof ResourceInUseException) return await requireSameKeys(client, table);
    throw new Error(`Table ${table.name} cannot be created: ${String(error)}`, { cause: error });
  }
  const deadline = Date.now() + tableMilliseconds;
  while (Date.now() < deadline) {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: table.name }));
    if (Table?.TableStatus === "ACTIVE") return;
    await wait(20);
  }
  throw new Error(`Table ${table.name} is not ready after ${tableMilliseconds / 1000} s`);
}

/** Refuses a kept table with other keys or indexes than the service has. */
async function requireSameKeys(client: DynamoDBClient, { name, definition }: LocalTable): Promise<void> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName: name }));
  if (Table !== undefined && isDeepStrictEqual(keysOf(Table), keysOf(definition))) return;
  throw new Error(`Table ${name} has other keys or indexes than this version of the service needs`);
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

function createTableInput({ name, definition }: LocalTable): CreateTableCommandInput {
  return { TableName: name, ...definition };
}
