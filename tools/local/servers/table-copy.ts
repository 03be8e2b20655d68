/** Copies of the tables' items in files: an import that was made before is read back instead of being made again. */
import { readFileSync, writeFileSync } from "node:fs";
import { deserialize, serialize } from "node:v8";
import {
  type AttributeValue,
  BatchWriteItemCommand,
  DynamoDBClient,
  paginateScan,
  ScanCommand,
} from "@aws-sdk/client-dynamodb";
import { region } from "../template/physical-names.ts";
import type { LocalTable } from "../template/tables.ts";
import type { Credentials } from "./backing-server.ts";

type Item = Record<string, AttributeValue>;

/** The server and the names of tables. */
interface Tables {
  readonly endpoint: string;
  readonly credentials: Credentials;
  readonly tables: readonly LocalTable[];
}

/** The tables without items. */
export async function emptyTables(source: Tables): Promise<Tables> {
  const client = clientOf(source);
  try {
    const tables: LocalTable[] = [];
    for (const table of source.tables) {
      const { Count } = await client.send(new ScanCommand({ TableName: table.name, Limit: 1 }));
      if (Count === 0) tables.push(table);
    }
    return { ...source, tables };
  } finally {
    client.destroy();
  }
}

/** Writes every item of the tables into a file, by the logical id of its table. */
export async function saveTables(file: string, source: Tables): Promise<void> {
  const client = clientOf(source);
  try {
    const saved: Record<string, Item[]> = {};
    for (const { logicalId, name } of source.tables) {
      const items: Item[] = [];
      for await (const page of paginateScan({ client }, { TableName: name }))
        items.push(...(page.Items ?? []));
      saved[logicalId] = items;
    }
    writeFileSync(file, serialize(saved));
  } finally {
    client.destroy();
  }
}

/** Puts the items of a file into tables that have none. */
export async function loadTables(file: string, target: Tables): Promise<void> {
  const saved: Record<string, Item[]> = deserialize(readFileSync(file));
  const client = clientOf(target);
  try {
    for (const { logicalId, name } of target.tables) {
      for (const Items of batches(saved[logicalId] ?? [])) {
        const RequestItems = { [name]: Items.map((Item) => ({ PutRequest: { Item } })) };
        const { UnprocessedItems = {} } = await client.send(new BatchWriteItemCommand({ RequestItems }));
        if (Object.keys(UnprocessedItems).length > 0) throw new Error(`table ${name} did not take all items`);
      }
    }
  } finally {
    client.destroy();
  }
}

/** DynamoDB's limit of items in one call. */
const itemsPerCall = 25;

function* batches(items: readonly Item[]): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += itemsPerCall) yield items.slice(from, from + itemsPerCall);
}

function clientOf({ endpoint, credentials }: Tables): DynamoDBClient {
  return new DynamoDBClient({
    endpoint,
    region,
    credentials,
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 20_000, throwOnRequestTimeout: true },
  });
}
