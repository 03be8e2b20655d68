import { execFile } from "node:child_process";
import { ncs } from "../../tools/cli/ncs.ts";

/** How a command ended, and what it wrote. */
export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs `ncs` in this process. What it finds and puts into `process.env` is the test's to set and to restore, as with
 * `vi.stubEnv`.
 */
export async function runNcs(args: readonly string[]): Promise<Ended> {
  const written = { stdout: "", stderr: "" };
  const code = await ncs(args, {
    stdout: (text) => {
      written.stdout += text;
    },
    stderr: (text) => {
      written.stderr += text;
    },
  });
  return { code, ...written };
}

/** Runs `ncs` as a person does, in a process of its own, which takes most of a second longer. */
export function spawnNcs(args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, ["tools/ncs.ts", ...args], (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}
