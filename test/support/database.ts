import { inject, vi } from "vitest";
import { type Table, tableVariable } from "../../shared/table.ts";
import { createTables } from "../../tools/local/servers/database.ts";
import { embeddedCredentials } from "../../tools/local/service.ts";
import { uncached } from "./uncached.ts";

/** Lets the stores of the project work on the tables of the local service, as a function's would. */
export function useTables(): void {
  Object.assign(process.env, inject("tableNames"), {
    AWS_ENDPOINT_URL_DYNAMODB: inject("databaseEndpoint"),
    ...uncached,
    AWS_REGION: "eu-west-1",
    AWS_ACCESS_KEY_ID: process.env.AWS_ACCESS_KEY_ID ?? "local",
    AWS_SECRET_ACCESS_KEY: process.env.AWS_SECRET_ACCESS_KEY ?? "local",
  });
}

/**
 * Lets stores work on an empty table that the service does not know, until `vi.unstubAllEnvs`: its sweep and its
 * workers change what the tables of the service hold.
 */
export async function useOwnTable({ name, partitionKey, sortKey, indexes = [] }: Table): Promise<void> {
  const ownName = `${name}-${crypto.randomUUID()}`;
  const keySchema = (hash: string, range?: string) => [
    { AttributeName: hash, KeyType: "HASH" as const },
    ...(range === undefined ? [] : [{ AttributeName: range, KeyType: "RANGE" as const }]),
  ];
  const GlobalSecondaryIndexes = indexes.map((index) => ({
    IndexName: index.name,
    KeySchema: keySchema(index.partitionKey, index.sortKey),
    Projection: { ProjectionType: "INCLUDE" as const, NonKeyAttributes: [...index.attributes] },
  }));
  const KeySchema = keySchema(partitionKey, sortKey);
  const keys = [KeySchema, ...GlobalSecondaryIndexes.map((index) => index.KeySchema)].flat();
  const definition = {
    AttributeDefinitions: [...new Set(keys.map(({ AttributeName }) => AttributeName))].map(
      (AttributeName) => ({ AttributeName, AttributeType: "S" as const }),
    ),
    KeySchema,
    ...(indexes.length === 0 ? {} : { GlobalSecondaryIndexes }),
    BillingMode: "PAY_PER_REQUEST" as const,
  };
  const table = { logicalId: name, name: ownName, definition };
  await createTables(inject("databaseEndpoint"), embeddedCredentials, [table]);
  vi.stubEnv(tableVariable({ name }), ownName);
}
