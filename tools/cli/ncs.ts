import { Command, CommanderError } from "commander";
import { addGenerate } from "./generate.ts";
import { addImport } from "./import.ts";
import { addJobs } from "./jobs.ts";
import type { Print } from "./print.ts";
import { addRotateKeys } from "./rotate-keys.ts";

/** Where a command writes. */
export interface CommandOutput {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
}

/**
 * Runs `ncs`. A command that works on a stack finds it through `process.env`, as the functions do, and puts there
 * what the stack's outputs name.
 * @param args what a person types after `ncs`.
 * @returns the exit code: 1 when the arguments are wrong or the command fails, and standard error says why.
 */
export async function ncs(args: readonly string[], { stdout, stderr }: CommandOutput): Promise<number> {
  const program = new Command("ncs")
    .description("Operates a deployed Network Capabilities Service.")
    .exitOverride()
    .configureOutput({ writeOut: stdout, writeErr: stderr });
  const print: Print = (line) => stdout(`${line}\n`);
  for (const add of [addImport, addGenerate, addJobs, addRotateKeys]) add(program, print);
  try {
    await program.parseAsync(args, { from: "user" });
    return 0;
  } catch (error) {
    // Commander has written what is wrong, or the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode;
    stderr(`${error instanceof Error ? error.message : error}\n`);
    return 1;
  }
}
