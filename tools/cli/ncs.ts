import { Command, CommanderError } from "commander";
import { addExplainTrace } from "./explain-trace.ts";
import { addGenerate } from "./generate.ts";
import { addImport } from "./import.ts";
import { addJobs } from "./jobs.ts";
import { addPreflight } from "./preflight.ts";
import type { Print } from "./print.ts";
import { addRemovedGrants } from "./removed-grants.ts";
import { addRotateKeys } from "./rotate-keys.ts";
import { addSamEnv } from "./sam-env.ts";

/** Where a command writes. */
export interface CommandOutput {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
}

/**
 * Runs `ncs`. Commands on a stack write the names in its outputs to `process.env`, where the functions' code reads
 * them.
 * @param args the arguments after `ncs`.
 * @returns the exit code: 1 for wrong arguments or a failed command, with the reason on standard error.
 */
export async function ncs(args: readonly string[], { stdout, stderr }: CommandOutput): Promise<number> {
  const program = new Command("ncs")
    .description("Operates a deployed Network Capabilities Service.")
    .exitOverride()
    .configureOutput({ writeOut: stdout, writeErr: stderr });
  const print: Print = (line) => stdout(`${line}\n`);
  const onStage = [addImport, addGenerate, addJobs, addRotateKeys, addExplainTrace];
  const onRelease = [addPreflight, addRemovedGrants, addSamEnv];
  for (const add of [...onStage, ...onRelease]) add(program, print);
  try {
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    // Commander has already written the error or the requested help.
    if (error instanceof CommanderError) return error.exitCode;
    stderr(`${error instanceof Error ? error.message : error}\n`);
    return 1;
  }
}
