import { readFile } from "node:fs/promises";
import { Command } from "commander";
import * as z from "zod";
import { stackName } from "../infra/app.ts";
import { tableOutput } from "../infra/outputs.ts";
import { type TableName, tables, tableVariable } from "../shared/tables.ts";
import { importKinds } from "./import/data-folder.ts";
import { type ImportKind, importFile } from "./import/import-file.ts";

const outputsFile = z.object({ [stackName]: z.record(z.string(), z.string()) });

/** Puts the names of a deployed stack's tables where the stores look for them. */
async function useStack(path: string): Promise<void> {
  const outputs = outputsFile.parse(JSON.parse(await readFile(path, "utf8")))[stackName];
  for (const table of Object.keys(tables) as TableName[]) {
    const name = outputs?.[tableOutput(table)];
    if (name !== undefined) process.env[tableVariable(table)] = name;
  }
}

const program = new Command("ncs").description("Operates a deployed Network Capabilities Service.");

const importing = program
  .command("import")
  .description("Import a file of records into the service's tables.");

for (const [name, kind] of Object.entries(importKinds)) {
  importing
    .command(`${name} <file>`)
    .description(`a JSON array like tools/demo/${kind.file}`)
    .requiredOption("--outputs <file>", "what `cdk deploy --outputs-file` wrote")
    .action(async (file: string, { outputs }: { outputs: string }) => {
      await useStack(outputs);
      const written = await importFile(kind as ImportKind<z.ZodType>, file);
      console.log(`${written} records imported`);
    });
}

try {
  await program.parseAsync();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
