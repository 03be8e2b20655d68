import { Command } from "commander";
import { addGenerate } from "./ncs/generate.ts";
import { addImport } from "./ncs/import.ts";
import { addJobs } from "./ncs/jobs.ts";
import { addRotateKeys } from "./ncs/rotate-keys.ts";

// Exits as a program does that leaves nothing behind: what is temporary is removed.
for (const [signal, code] of [["SIGINT", 130] as const, ["SIGTERM", 143] as const]) {
  process.once(signal, () => process.exit(code));
}

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
