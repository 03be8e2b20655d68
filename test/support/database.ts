import { vi } from "vitest";
import { densityImports } from "../../functions/population-density/import/store/tables.ts";
import { densities } from "../../functions/population-density/tiles/table.ts";
import { type Table, tableVariable } from "../../shared/table.ts";
import { declaredTable } from "../../tools/local/declared/declared-table.ts";
import { embeddedCredentials } from "../../tools/local/servers/backing-server.ts";
import { createTables } from "../../tools/local/servers/database.ts";
import { sharedService } from "./service.ts";
import { uncached } from "./uncached.ts";

/** Lets the project's stores use the tables of the local service, as its functions do. */
export function useTables(): void {
  Object.assign(process.env, sharedService.tableNames, {
    AWS_ENDPOINT_URL_DYNAMODB: sharedService.databaseEndpoint,
    ...uncached,
    // A request whose count takes 0.2 s is served uncounted: here no count is too late for a busy machine. A test that
    // waits for a time limit sets the factor itself.
    DEADLINE_FACTOR: "50",
    AWS_REGION: "eu-west-1",
    AWS_ACCESS_KEY_ID: process.env.AWS_ACCESS_KEY_ID ?? "local",
    AWS_SECRET_ACCESS_KEY: process.env.AWS_SECRET_ACCESS_KEY ?? "local",
  });
}

/** Lets imports and readers of densities work on empty tables of their own, as `useOwnTable` does. */
export async function useOwnDensityTables(): Promise<void> {
  await useOwnTables(densities, densityImports);
}

/**
 * Lets stores use a new, empty table until `vi.unstubAllEnvs`: the sweep and the workers of the service change its own
 * tables.
 */
export async function useOwnTable(table: Table): Promise<void> {
  await useOwnTables(table);
}

async function useOwnTables(...tables: readonly Table[]): Promise<void> {
  const own = tables.map((table) => declaredTable(table, `${table.name}-${crypto.randomUUID()}`));
  await createTables(sharedService.databaseEndpoint, embeddedCredentials, own);
  for (const [index, table] of tables.entries()) vi.stubEnv(tableVariable(table), own[index]?.TableName);
}
