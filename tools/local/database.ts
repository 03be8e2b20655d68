import { setTimeout as wait } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
  ResourceInUseException,
} from "@aws-sdk/client-dynamodb";
import { firstMessage } from "./first-message.ts";
import { region } from "./physical-names.ts";
import type { LocalTable } from "./template.ts";

const startMilliseconds = 10_000;
const tableMilliseconds = 30_000;

/** Keys that sign requests; the embedded servers accept any. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** A running DynamoDB. */
export interface Database {
  readonly endpoint: string;
  close(): Promise<void>;
}

/** The external server when an endpoint is given, otherwise an empty one in memory. */
export async function openDatabase(externalEndpoint: string | undefined): Promise<Database> {
  if (externalEndpoint !== undefined) return { endpoint: externalEndpoint, close: async () => {} };
  const thread = new Worker(new URL("./database-thread.mjs", import.meta.url), { execArgv: [] });
  const close = async () => {
    await thread.terminate();
  };
  try {
    const port = await firstMessage(thread, startMilliseconds, "the embedded DynamoDB");
    thread.on("error", (error) => process.emitWarning(error));
    return { endpoint: `http://127.0.0.1:${port}`, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Creates the tables of a template and waits until they can be used.
 *
 * A table that exists already is left as it is. Settings that change nothing on one machine, such as time to live and
 * backups, are not applied.
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
    if (error instanceof ResourceInUseException) return;
    throw new Error(`Table ${table.name} cannot be created: ${String(error)}`, { cause: error });
  }
  const giveUpAt = Date.now() + tableMilliseconds;
  while (Date.now() < giveUpAt) {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: table.name }));
    if (Table?.TableStatus === "ACTIVE") return;
    await wait(20);
  }
  throw new Error(`Table ${table.name} is not ready after ${tableMilliseconds / 1000} s`);
}

function createTableInput({ name, definition }: LocalTable): CreateTableCommandInput {
  return { TableName: name, ...definition };
}
