import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { tables } from "../../functions/areas.ts";
import { tableVariable } from "../../shared/table.ts";
import { temporaryFolder } from "../../shared/temporary-folder.ts";
import { cachedFolder, installed } from "../build-cache.ts";
import { runProgram } from "../child-program.ts";
import { demoData, densityFiles } from "../import/data-files.ts";
import { importedFiles } from "../imported-files.ts";
import { region } from "./declared/aws-names.ts";
import { declaredTable } from "./declared/declared-table.ts";
import { withoutProfiles } from "./servers/aws-variables.ts";
import { embeddedCredentials } from "./servers/backing-server.ts";
import { createTables, openDatabase } from "./servers/database.ts";
import { saveTables } from "./servers/table-copy.ts";

/** The items that an import of the demo data writes, saved for `loadTables` under the variables of their tables. */
export interface DemoTables {
  readonly file: string;
  readonly remove: () => void;
}

/** What the items of the demo data depend on: what the import is made of, and how they are saved. */
export function demoSources(): readonly string[] {
  const own = [
    "tools/demo",
    "tools/import",
    "tools/local/demo-tables.ts",
    "tools/local/servers/table-copy.ts",
  ];
  return [...new Set([...own, ...importedFiles("tools/local/import-data.ts"), ...installed])];
}

/**
 * Imports the demo data into temporary tables. Reuses the items of an earlier import of the same data, copied to a folder of
 * the caller's own.
 * @param model what `density-model.json` has to say instead of the demo's.
 */
export async function makeDemoTables(model?: string): Promise<DemoTables> {
  const { path, remove } = temporaryFolder("network-capabilities-tables-");
  const made = { file: join(path, "items"), remove };
  try {
    const { DENSITY_K, DENSITY_PRECISIONS } = process.env;
    const settings = JSON.stringify([DENSITY_K, DENSITY_PRECISIONS, model]);
    const cached = cachedFolder("demo-tables", { sources: demoSources(), settings });
    if (cached.restore(path)) return made;
    await importAndSave(made.file, model);
    cached.store(path);
    return made;
  } catch (error) {
    remove();
    throw error;
  }
}

async function importAndSave(file: string, model: string | undefined): Promise<void> {
  const { endpoint, close } = await openDatabase(undefined);
  try {
    const names = Object.fromEntries(tables.map((table) => [tableVariable(table), table.name]));
    const declared = tables.map((table) => declaredTable(table, table.name));
    await createTables(endpoint, embeddedCredentials, declared);
    const environment = {
      ...names,
      AWS_ENDPOINT_URL_DYNAMODB: endpoint,
      ...withoutProfiles,
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: embeddedCredentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: embeddedCredentials.secretAccessKey,
    };
    await importData(demoData, environment, model);
    await saveTables(file, { endpoint, credentials: embeddedCredentials, names });
  } finally {
    await close();
  }
}

/**
 * Imports a data folder as an operator does, in a separate process, so that its memory is freed.
 * @param environment names the tables and their endpoint.
 * @param model the `density-model.json` of a folder that has no other file, and is imported instead.
 */
export async function importData(
  data: string,
  environment: Readonly<Record<string, string>>,
  model?: string,
): Promise<void> {
  const temporary = temporaryFolder("network-capabilities-import-");
  const shell = Object.entries(process.env).filter(([name]) => !isWithheld(name));
  try {
    const own = join(temporary.path, "model");
    if (model !== undefined) {
      mkdirSync(own);
      writeFileSync(join(own, densityFiles.model), model);
    }
    const parameters = [model === undefined ? resolve(data) : own, temporary.path];
    const all = { ...Object.fromEntries(shell), ...environment };
    await runProgram(new URL("./import-data.ts", import.meta.url), parameters, { environment: all });
  } finally {
    temporary.remove();
  }
}

/**
 * Whether a variable of the shell is withheld from an import: those of AWS, as it gets the local server's, and the
 * cheaper password hashes of tests, as tests and `npm start` share the saved items.
 */
function isWithheld(name: string): boolean {
  return name.startsWith("AWS_") || name === "PASSWORD_HASH_LN";
}
