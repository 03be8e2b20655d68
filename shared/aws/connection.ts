import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { Misconfigured } from "../errors.ts";
import type { Table } from "../table.ts";
import { clientDefaults } from "./clients.ts";
import { connectionProblem, NotConnected } from "./connection-problem.ts";
import { nameOf } from "./database-client.ts";

/**
 * Reads a key that no item has, so that an import that cannot use AWS fails before it reads its file. Needs no
 * permission beyond those of the import.
 * @throws {NotConnected} saying what to set.
 */
export async function checkConnection(table: Table): Promise<void> {
  const { partitionKey, sortKey } = table;
  const tableName = nameIn(table);
  const client = new DynamoDBClient({ ...clientDefaults(), maxAttempts: 2 });
  const key = { [partitionKey]: "-", ...(sortKey === undefined ? {} : { [sortKey]: "-" }) };
  try {
    await client.send(new GetItemCommand({ TableName: tableName, Key: marshall(key) }));
  } catch (error) {
    const problem = connectionProblem(error);
    if (problem !== undefined) throw problem;
    const isAnswer = error instanceof Error && "$fault" in error;
    // A table that throttles or fails exists; imports wait for it.
    if (!isAnswer) throw await notReached(client, error);
  } finally {
    client.destroy();
  }
}

function nameIn(table: Table): string {
  try {
    return nameOf(table);
  } catch (error) {
    if (!(error instanceof Misconfigured)) throw error;
    throw new NotConnected(
      `--outputs names no table of ${table.name}: deploy this version of the stage with --outputs-file`,
    );
  }
}

async function notReached(client: DynamoDBClient, error: unknown): Promise<NotConnected> {
  const code = error instanceof Error ? ("code" in error ? String(error.code) : error.name) : typeof error;
  const region = await client.config.region();
  return new NotConnected(
    `DynamoDB does not answer in ${region} (${code}): check AWS_REGION, AWS_ENDPOINT_URL_DYNAMODB and the network`,
  );
}
