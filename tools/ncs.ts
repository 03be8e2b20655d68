import { Command } from "commander";
import { addGenerate } from "./cli/generate.ts";
import { addImport } from "./cli/import.ts";
import { addJobs } from "./cli/jobs.ts";
import { addRotateKeys } from "./cli/rotate-keys.ts";
import { exitOnSignals } from "./exit-on-signals.ts";

exitOnSignals();

const program = new Command("ncs").description("Operates a deployed Network Capabilities Service.");
addImport(program);
addGenerate(program);
addJobs(program);
addRotateKeys(program);

try {
  await program.parseAsync();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
