import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import * as z from "zod";
import { endpoints } from "../../functions/areas.ts";
import { functionIds } from "../../infra/bundles.ts";
import { type FunctionId, functionRecords } from "../../infra/functions.ts";
import { temporaryFolder } from "../../shared/temporary-folder.ts";
import { buildFunctions, bundle } from "../build.ts";
import { type Bench, median, type Row } from "./bench.ts";
import { eagerBytes } from "./eager-bytes.ts";

/** What a function costs before its first request, and what the pipeline adds to each one after that. */
export const start: Bench = {
  about: [
    "What a function costs before its first request, and what the pipeline adds to each later one.",
    "“Read eagerly” is the size of a bundle's entry and of every file that it imports statically.",
    "“Cold import” is the median time of `import()` in fresh processes. The baseline is a bundle of the same run that",
    "contains only `@aws-sdk/client-dynamodb` (`tools/bench/baseline.ts`). It is imported before every import of a",
    "function; the ratio is the median of the ratios of these pairs. For comparison, `lean-client` contains what a bundle",
    "keeps of that package for a client and four commands (`tools/bench/lean-client.ts`).",
    "“Warm request” is the median time of a call that goes through the whole pipeline and waits for nothing",
    "(`tools/bench/warm-request.ts`).",
  ].join("\n"),
  run: async () => {
    const { path, remove } = temporaryFolder("bench-start-");
    try {
      return [...(await importRows(path)), await warmRow(path)];
    } finally {
      remove();
    }
  },
};

const maxKibibytes = 380;
const maxWarmMilliseconds = 0.15;
const turns = 21;

const leanClient = "lean-client";
const authorizer = "authorizer/authorize" satisfies FunctionId;

/** Nothing of the shell's environment reaches what is measured. */
const environment = { PATH: process.env.PATH };

async function importRows(folder: string): Promise<Row[]> {
  const { metafile } = await bundle(beside("baseline.ts"), join(folder, "baseline"));
  const lean = await bundle(beside("lean-client.ts"), join(folder, leanClient));
  const kibibytes = await measureBundles(folder);
  const imports = await importInTurns(folder);
  const ofBaseline = [...imports.values()].flatMap((pairs) => pairs.map(({ baseline }) => baseline));
  return [
    shown("baseline: read eagerly", kibibytesText(eagerBytes(metafile) / 1_024)),
    shown("baseline: cold import", millisecondsText(median(ofBaseline))),
    ...rowsOf(leanClient, eagerBytes(lean.metafile) / 1_024, imports.get(leanClient) ?? []),
    ...functionIds.flatMap((id) => rowsOf(id, kibibytes.get(id) ?? Number.NaN, imports.get(id) ?? [])),
  ];
}

/** Builds the functions. Returns the KiB each reads eagerly. */
async function measureBundles(folder: string): Promise<Map<FunctionId, number>> {
  const built = await buildFunctions(folder);
  const kibibytes = new Map<FunctionId, number>();
  for (const [index, id] of functionIds.entries()) {
    const metafile = built[index]?.metafile;
    if (metafile === undefined) throw new Error(`${id} was not built`);
    kibibytes.set(id, eagerBytes(metafile) / 1_024);
  }
  return kibibytes;
}

/** Milliseconds of a function's import, and of the baseline's just before it. */
interface Pair {
  readonly measured: number;
  readonly baseline: number;
}

/**
 * Imports every bundle once a turn, each time right after the baseline: what slows the machine for a while
 * slows both. The first turn fills the file system's cache and is dropped.
 */
async function importInTurns(folder: string): Promise<Map<string, Pair[]>> {
  const imports = new Map<string, Pair[]>([leanClient, ...functionIds].map((name) => [name, []]));
  for (let turn = 0; turn <= turns; turn++) {
    for (const [name, pairs] of imports) {
      const baseline = await importOnce(join(folder, "baseline"));
      const pair = { baseline, measured: await importOnce(join(folder, name)) };
      if (turn > 0) pairs.push(pair);
    }
  }
  return imports;
}

/** The path of a file beside this one. */
function beside(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}

const run = promisify(execFile);

async function importOnce(folder: string): Promise<number> {
  const program = beside("cold-import.mjs");
  const module = pathToFileURL(join(folder, "index.mjs")).href;
  const { stdout } = await run(process.execPath, [program, module], { env: environment });
  return z.number().parse(JSON.parse(stdout));
}

function rowsOf(id: string, kibibytes: number, pairs: readonly Pair[]): Row[] {
  const ratio = median(pairs.map(({ measured, baseline }) => measured / baseline));
  const milliseconds = median(pairs.map(({ measured }) => measured));
  const read = shown(`${id}: read eagerly`, kibibytesText(kibibytes));
  const cold = shown(
    `${id}: cold import`,
    `${millisecondsText(milliseconds)}, ${ratio.toFixed(2)} × baseline`,
  );
  const maxRatio = maxRatioOf(id);
  if (maxRatio === undefined) return [read, cold];
  return [
    { ...read, bar: `≤ ${maxKibibytes} KiB`, holds: kibibytes <= maxKibibytes },
    { ...cold, bar: `≤ ${maxRatio} ×`, holds: ratio <= maxRatio },
  ];
}

/** Callers wait for the authorizer and the function of the endpoint; nobody waits for the others. */
function maxRatioOf(id: string): number | undefined {
  if (id === authorizer) return functionRecords[authorizer].tables === undefined ? 1 : 1.2;
  return endpoints.some((endpoint) => endpoint.id === id) ? 1.6 : undefined;
}

async function warmRow(folder: string): Promise<Row> {
  const milliseconds = median(await warmRequests(join(folder, "warm-request")));
  return {
    what: "warm request",
    measured: `${milliseconds.toFixed(3)} ms`,
    bar: `≤ ${maxWarmMilliseconds} ms`,
    holds: milliseconds <= maxWarmMilliseconds,
  };
}

/** Runs `warm-request.ts` in a process of its own: its log lines are rendered and written, but to nowhere. */
async function warmRequests(folder: string): Promise<number[]> {
  await bundle(beside("warm-request.ts"), folder);
  const child = spawn(process.execPath, [join(folder, "index.mjs")], {
    env: environment,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const sent = once(child, "message").then(([message]) => z.array(z.number()).parse(message));
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`the warm requests ended with exit code ${code} and no result`);
  });
  return await Promise.race([sent, ended]);
}

function shown(what: string, measured: string): Row {
  return { what, measured, holds: true };
}

function kibibytesText(kibibytes: number): string {
  return `${kibibytes.toFixed(1)} KiB`;
}

function millisecondsText(milliseconds: number): string {
  return `${milliseconds.toFixed(1)} ms`;
}
