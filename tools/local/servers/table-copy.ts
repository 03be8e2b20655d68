/** Saves the items of tables in files, so that an import need not be repeated. */
import { readFileSync, writeFileSync } from "node:fs";
import { deserialize, serialize } from "node:v8";
import {
  type AttributeValue,
  BatchWriteItemCommand,
  DynamoDBClient,
  paginateScan,
} from "@aws-sdk/client-dynamodb";
import { region } from "../declared/aws-names.ts";
import type { Credentials } from "./backing-server.ts";

type Item = Record<string, AttributeValue>;

/** A server and its tables. */
interface Tables {
  readonly endpoint: string;
  readonly credentials: Credentials;
  /** The tables' names on this server, by their names in the files. */
  readonly names: Readonly<Record<string, string>>;
}

/** Writes every item of the tables into a file. */
export async function saveTables(file: string, source: Tables): Promise<void> {
  const client = clientOf(source);
  try {
    const saved: Record<string, Item[]> = {};
    for (const [name, TableName] of Object.entries(source.names)) {
      const items: Item[] = [];
      for await (const page of paginateScan({ client }, { TableName })) items.push(...(page.Items ?? []));
      saved[name] = items;
    }
    writeFileSync(file, serialize(saved));
  } finally {
    client.destroy();
  }
}

/** Loads the items of a file into the tables. */
export async function loadTables(file: string, target: Tables): Promise<void> {
  const saved: Record<string, Item[]> = deserialize(readFileSync(file));
  const client = clientOf(target);
  try {
    for (const [name, tableName] of Object.entries(target.names)) {
      for (const Items of batches(saved[name] ?? [])) {
        const RequestItems = { [tableName]: Items.map((Item) => ({ PutRequest: { Item } })) };
        const { UnprocessedItems = {} } = await client.send(new BatchWriteItemCommand({ RequestItems }));
        if (Object.keys(UnprocessedItems).length > 0) {
          throw new Error(`table ${tableName} did not accept all items`);
        }
      }
    }
  } finally {
    client.destroy();
  }
}

/** DynamoDB's maximum number of items per call. */
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
