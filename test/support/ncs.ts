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
