/**
 * Installs the generators of `test/generators` where they are kept until their lock file changes, and runs their check
 * with the parameters that are given. They take 160 MB, so no other command installs them.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheOf } from "./build-cache.ts";

const project = fileURLToPath(new URL("..", import.meta.url));
const generators = join(project, "test", "generators");
const lock = join(generators, "package-lock.json");
const digest = createHash("sha256").update(readFileSync(lock)).digest("hex").slice(0, 16);
const folder = join(cacheOf(project), `generators-${digest}`);

if (!existsSync(join(folder, "node_modules", ".package-lock.json"))) {
  mkdirSync(folder, { recursive: true });
  for (const name of ["package.json", "package-lock.json"])
    copyFileSync(join(generators, name), join(folder, name));
  // No script of a package is needed, and none is run.
  run("npm", ["ci", "--ignore-scripts", "--no-fund", "--no-audit"], folder);
}
const vitest = join(project, "node_modules", "vitest", "vitest.mjs");
const config = join(generators, "vitest.config.ts");
run(process.execPath, [vitest, "run", "--config", config, ...process.argv.slice(2)], project);

function run(program: string, parameters: readonly string[], cwd: string): void {
  const { status, error } = spawnSync(program, parameters, {
    cwd,
    stdio: "inherit",
    shell: process.platform === "win32" && program === "npm",
    env: { ...process.env, GENERATORS: folder },
  });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
