import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type * as z from "zod";
import { briefly } from "./bench.ts";

/** The path of a program in `tools/bench/programs`. */
export function pathOf(program: string): string {
  return fileURLToPath(new URL(`programs/${program}`, import.meta.url));
}

/**
 * Starts a TypeScript program of `tools/bench/programs`, so that its memory and processor time are its own. It runs in
 * the smallest size if this program does.
 * @param env is all of its environment but the path.
 * @param flags of Node.js.
 */
export function forkProgram(
  program: string,
  parameters: readonly string[],
  env: NodeJS.ProcessEnv = {},
  flags: readonly string[] = [],
): ChildProcess {
  return fork(pathOf(program), [...parameters, ...briefly], {
    execArgv: [...flags],
    env: { PATH: process.env.PATH, ...env },
  });
}

/** What a process sends by its first message, after which it is ended. */
export async function resultOf<Result>(child: ChildProcess, schema: z.ZodType<Result>): Promise<Result> {
  const sent = once(child, "message").then(([message]) => schema.parse(message));
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`${child.spawnargs.join(" ")} ended with ${code} and no result`);
  });
  try {
    return await Promise.race([sent, ended]);
  } finally {
    // Clients and their connections would keep it.
    if (child.connected) child.disconnect();
    child.kill();
  }
}
