import { vi } from "vitest";
import { tables } from "../../functions/areas.ts";
import { outputNames, tableOutput } from "../../infra/output-names.ts";
import { stackNames } from "../../infra/stack-names.ts";
import { tableVariable } from "../../shared/table.ts";
import { sharedService } from "./service.ts";

/**
 * What `cdk deploy --outputs-file` writes of a dev stage: its tables are those of the environment, or else those of the
 * local service, and it publishes as the demo data are stored.
 * @param changes outputs by their names.
 */
export function stackOutputs(changes: Readonly<Record<string, string>> = {}) {
  const names = tables.map((table) => {
    const variable = tableVariable(table);
    return [tableOutput(table), process.env[variable] || (sharedService.tableNames[variable] ?? "")];
  });
  const publishing = { [outputNames.densityK]: "10", [outputNames.densityPrecisions]: "3-7" };
  return { [stackNames.dev]: { ...Object.fromEntries(names), ...publishing, ...changes } };
}

/**
 * Gives this process the shell of an operator, until `vi.unstubAllEnvs`: it has credentials for the tables of the local
 * service, and says nothing else about the service or the person.
 */
export function useShell(changes: Readonly<Record<string, string | undefined>> = {}): void {
  const shell = {
    AWS_REGION: "eu-west-1",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
    AWS_ENDPOINT_URL_DYNAMODB: sharedService.databaseEndpoint,
    // Neither the machine's nor the person's own.
    AWS_EC2_METADATA_DISABLED: "true",
    AWS_CONFIG_FILE: "/no-such-file",
    AWS_SHARED_CREDENTIALS_FILE: "/no-such-file",
    ...changes,
  };
  const unset = [
    ...["AWS_PROFILE", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN", "NCS_PASSWORD", "NCS_TOKEN"],
    ...["CACHE_SECONDS", "DENSITY_K", "DENSITY_PRECISIONS"],
  ];
  for (const name of unset) vi.stubEnv(name, undefined);
  for (const table of tables) vi.stubEnv(tableVariable(table), "");
  for (const [name, value] of Object.entries(shell)) vi.stubEnv(name, value);
}
