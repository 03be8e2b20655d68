import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { availableParallelism, loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { type Bench, briefly } from "./bench/bench.ts";
import { delivery } from "./bench/delivery.ts";
import { density } from "./bench/density.ts";
import { documentWith, tableOf } from "./bench/document.ts";
import { imports } from "./bench/import.ts";
import { start } from "./bench/start.ts";
import { throughput } from "./bench/throughput.ts";
import { exitOnSignals } from "./exit-on-signals.ts";
import { forgetAwsAccount } from "./local/servers/aws-variables.ts";

exitOnSignals();
forgetAwsAccount(process.env);

const benches: Readonly<Record<string, Bench>> = {
  start,
  density,
  delivery,
  import: imports,
  throughput,
};

const documentFile = fileURLToPath(new URL("../docs/benchmarks.md", import.meta.url));

const usage = `usage: npm run bench -- [--write] [--brief] [NAME]...

  NAME     ${Object.keys(benches).join(", ")}; without one, all of them
  --write  put what was measured into docs/benchmarks.md, if every limit holds
  --brief  run each in its smallest size, to see that it works; no limit is checked, and nothing is written`;

const given = process.argv.slice(2);
if (given.includes("--help")) {
  console.log(usage);
  process.exit();
}
const isWritten = given.includes("--write") && briefly.length === 0;
const named = given.filter((name) => !name.startsWith("--"));
const unknown = given.filter((name) => !["--write", "--brief", ...Object.keys(benches)].includes(name));
if (unknown.length > 0) {
  console.error(`no ${unknown.join(", ")}\n${usage}`);
  process.exit(2);
}

const wanted = Object.keys(benches).filter((name) => named.length === 0 || named.includes(name));
const [only = "", ...others] = wanted;
if (others.length === 0) await runHere(only);
else for (const name of wanted) await runApart(name);

/** Runs a bench in a process of its own: what one compiles, connects and sets changes nothing for the next. */
async function runApart(name: string): Promise<void> {
  const options = given.filter((option) => option.startsWith("--"));
  const child = spawn(
    process.execPath,
    [...process.execArgv, fileURLToPath(import.meta.url), name, ...options],
    {
      stdio: "inherit",
    },
  );
  const end = () => child.kill();
  process.once("exit", end);
  const [code] = await once(child, "exit");
  process.off("exit", end);
  if (code !== 0) process.exitCode = 1;
}

async function runHere(name: string): Promise<void> {
  const bench = benches[name] as Bench;
  const [load = 0] = loadavg();
  if (load > availableParallelism()) {
    console.error(`the machine is busy (load ${load.toFixed(1)}): do not rely on medians and ratios`);
  }
  const rows = await bench.run();
  console.log(`${name}\n${tableOf(rows)}\n`);
  if (!rows.every(({ holds }) => holds)) process.exitCode = 1;
  if (!isWritten) return;
  const document = await readFile(documentFile, "utf8");
  await writeFile(documentFile, documentWith(document, benches, { name, rows, load }));
}
