#!/usr/bin/env node
// `ncs` as a command of the shell (`npm link`): runs on the Node.js that npm ci installs where the shell's is older.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const pathOf = (file) => fileURLToPath(new URL(file, import.meta.url));
const installed = pathOf("../node_modules/.bin/node");
if (Number.parseInt(process.versions.node, 10) < 24 && existsSync(installed)) {
  const child = spawn(installed, [pathOf("ncs.ts"), ...process.argv.slice(2)], { stdio: "inherit" });
  // A terminal sends its signals to both: the program expects that one may come twice.
  for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  const [code] = await once(child, "exit");
  process.exit(code ?? 1);
}
await import("./require-node.mjs");
await import("./ncs.ts");
