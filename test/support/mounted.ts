import { execFile, spawnSync } from "node:child_process";
import type { Ended } from "./ncs.ts";

/** Whether a program is there and works; says so loudly if not, as what needs it is skipped then. */
export function has(program: string, ...args: readonly string[]): boolean {
  const isThere = spawnSync(program, args).status === 0;
  if (!isThere) console.warn(`SKIPPED: \`${[program, ...args].join(" ")}\` does not work on this machine`);
  return isThere;
}

/** Whether this machine lets tests mount a folder, for their own programs only. */
export const canMount = has("unshare", "-m", "sh", "-c", "mount -t tmpfs none /mnt");

/**
 * Runs commands of a shell while a small disk is mounted on a folder, which nobody else sees.
 * @param options of the disk, such as `size=64k`.
 * @param args from `$0` on.
 */
export function withMounted(
  folder: string,
  options: string,
  commands: string,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Ended> {
  const mounted = `mount -t tmpfs -o ${options} none ${folder} && { ${commands}; }`;
  return new Promise((resolve) => {
    execFile("unshare", ["-m", "sh", "-c", mounted, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}
