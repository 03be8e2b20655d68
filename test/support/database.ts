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

/** Lets a store work on an empty table that the service's functions do not know, until `vi.unstubAllEnvs`. */
export async function useOwnTable({ name, partitionKey, sortKey = "" }: Table): Promise<void> {
  const ownName = `${name}-${crypto.randomUUID()}`;
  const keys = [partitionKey, sortKey].filter((key) => key !== "");
  const definition = {
    AttributeDefinitions: keys.map((AttributeName) => ({ AttributeName, AttributeType: "S" as const })),
    KeySchema: keys.map((AttributeName, index) => ({
      AttributeName,
      KeyType: index === 0 ? ("HASH" as const) : ("RANGE" as const),
    })),
    BillingMode: "PAY_PER_REQUEST" as const,
  };
  const table = { logicalId: name, name: ownName, definition };
  await createTables(inject("databaseEndpoint"), embeddedCredentials, [table]);
  vi.stubEnv(tableVariable({ name }), ownName);
}
