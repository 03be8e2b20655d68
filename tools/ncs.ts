import { Command } from "commander";
import { exitOnSignals } from "./exit-on-signals.ts";
import { addGenerate } from "./ncs/generate.ts";
import { addImport } from "./ncs/import.ts";
import { addJobs } from "./ncs/jobs.ts";
import { addRotateKeys } from "./ncs/rotate-keys.ts";

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
