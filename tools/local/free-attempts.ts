import { DeleteItemCommand, DynamoDBClient, paginateScan, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import {
  densityJobs,
  densityPermits,
  permitsKey,
} from "../../functions/population-density/delivery/tables.ts";
import { tableVariable } from "../../shared/table.ts";
import { region } from "./declared/aws-names.ts";
import { embeddedCredentials } from "./servers/backing-server.ts";

/** The embedded tables. */
interface Tables {
  readonly databaseEndpoint: string;
  readonly tableNames: Readonly<Record<string, string | undefined>>;
}

/**
 * Frees what the workers of an earlier program held: the leases of attempts that have no outcome, and all permits. A
 * scheduled retry keeps its time. Only for tables that no worker uses.
 */
export async function freeAttempts({ databaseEndpoint, tableNames }: Tables): Promise<void> {
  const client = new DynamoDBClient({
    endpoint: databaseEndpoint,
    region,
    credentials: embeddedCredentials,
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 2_000, requestTimeout: 20_000, throwOnRequestTimeout: true },
  });
  try {
    const TableName = tableNames[tableVariable(densityJobs)];
    const isWithoutOutcome = {
      FilterExpression:
        "#state = :pending AND attribute_exists(notBefore) AND attribute_not_exists(lastAttempt.#outcome)",
      ExpressionAttributeNames: { "#state": "state", "#outcome": "outcome" },
      ExpressionAttributeValues: { ":pending": { S: "pending" } },
    };
    for await (const { Items = [] } of paginateScan({ client }, { TableName, ...isWithoutOutcome })) {
      for (const { operationId = { S: "" } } of Items) {
        const update = {
          UpdateExpression: "REMOVE notBefore",
          ConditionExpression: "attribute_exists(notBefore)",
        };
        await client.send(new UpdateItemCommand({ TableName, Key: { operationId }, ...update }));
      }
    }
    const permits = { TableName: tableNames[tableVariable(densityPermits)], Key: marshall(permitsKey) };
    await client.send(new DeleteItemCommand(permits));
  } finally {
    client.destroy();
  }
}
