import { execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import * as z from "zod";
import { endpoints } from "../../functions/areas.ts";
import { functionIds } from "../../infra/bundles.ts";
import { type FunctionId, functionRecords } from "../../infra/functions.ts";
import { temporaryFolder } from "../../shared/temporary-folder.ts";
import { buildFunctions, bundle } from "../build.ts";
import { atMost, type Bench, inUnit, median, type Row, shown, sized, times } from "./bench.ts";
import { eagerBytes } from "./eager-bytes.ts";
import { pathOf, resultOf } from "./process.ts";
import { aboutWarmFunctions, warmFunctionRows } from "./warm-functions.ts";

/** What a function costs before its first request, and what the pipeline adds to each one after that. */
export const start: Bench = {
  about: [
    "What a function costs before its first request, and what the pipeline adds to each later one.",
    "“Read eagerly” is the size of a bundle's entry and of every file that it imports statically.",
    "“Cold import” is the median time of `import()` in fresh processes. The baseline is a bundle of the same run that",
    "contains only `@aws-sdk/client-dynamodb` (`tools/bench/programs/baseline.ts`). It is imported before every import of a",
    "function; the ratio is the median of the ratios of these pairs.",
    "“Warm request” is the median time of a call that goes through the whole pipeline and waits for nothing",
    "(`tools/bench/programs/warm-request.ts`).",
    "",
    aboutWarmFunctions,
  ].join("\n"),
  run: async () => {
    const { path, remove } = temporaryFolder("bench-start-");
    try {
      return [...(await importRows(path)), await warmRow(path), ...(await warmFunctionRows())];
    } finally {
      remove();
    }
  },
};

const maxKibibytes = 380;
const maxWarmMilliseconds = 0.15;
const turns = sized(21, 1);
/** They fill the file system's cache and are dropped. */
const firstTurns = sized(1, 0);

const kibibytes = inUnit("KiB", 1);
const milliseconds = inUnit("ms", 1);
const authorizer = "authorizer/authorize" satisfies FunctionId;

/** Nothing of the shell's environment reaches what is measured. */
const environment = { PATH: process.env.PATH };

async function importRows(folder: string): Promise<Row[]> {
  const { metafile } = await bundle(pathOf("baseline.ts"), join(folder, "baseline"));
  const eager = await measureBundles(folder);
  const imports = await importInTurns(folder);
  const ofBaseline = [...imports.values()].flatMap((pairs) => pairs.map(({ baseline }) => baseline));
  return [
    shown("baseline: read eagerly", kibibytes(eagerBytes(metafile) / 1_024)),
    shown("baseline: cold import", milliseconds(median(ofBaseline))),
    ...functionIds.flatMap((id) => rowsOf(id, eager.get(id) ?? Number.NaN, imports.get(id) ?? [])),
  ];
}

/** Builds the functions. Returns the KiB each reads eagerly. */
async function measureBundles(folder: string): Promise<Map<FunctionId, number>> {
  const built = await buildFunctions(folder);
  const eager = new Map<FunctionId, number>();
  for (const [index, id] of functionIds.entries()) {
    const metafile = built[index]?.metafile;
    if (metafile === undefined) throw new Error(`${id} was not built`);
    eager.set(id, eagerBytes(metafile) / 1_024);
  }
  return eager;
}

/** Milliseconds of a function's import, and of the baseline's just before it. */
interface Pair {
  readonly measured: number;
  readonly baseline: number;
}

/**
 * Imports every function once a turn, each time right after the baseline: what slows the machine for a while
 * slows both.
 */
async function importInTurns(folder: string): Promise<Map<FunctionId, Pair[]>> {
  const imports = new Map<FunctionId, Pair[]>(functionIds.map((id) => [id, []]));
  for (let turn = -firstTurns; turn < turns; turn++) {
    for (const [id, pairs] of imports) {
      const baseline = await importOnce(join(folder, "baseline"));
      const pair = { baseline, measured: await importOnce(join(folder, id)) };
      if (turn >= 0) pairs.push(pair);
    }
  }
  return imports;
}

const run = promisify(execFile);

async function importOnce(folder: string): Promise<number> {
  const module = pathToFileURL(join(folder, "index.mjs")).href;
  const { stdout } = await run(process.execPath, [pathOf("cold-import.mjs"), module], { env: environment });
  return z.number().parse(JSON.parse(stdout));
}

function rowsOf(id: FunctionId, eager: number, pairs: readonly Pair[]): Row[] {
  const ratio = median(pairs.map(({ measured, baseline }) => measured / baseline));
  const cold = milliseconds(median(pairs.map(({ measured }) => measured)));
  const [read, over] = [`${id}: read eagerly`, `${id}: cold import (${cold}) over baseline`];
  const maxRatio = maxRatioOf(id);
  if (maxRatio === undefined) return [shown(read, kibibytes(eager)), shown(over, times(ratio))];
  return [atMost(read, eager, maxKibibytes, kibibytes), atMost(over, ratio, maxRatio, times)];
}

/** Callers wait for the authorizer and the function of the endpoint; nobody waits for the others. */
function maxRatioOf(id: FunctionId): number | undefined {
  if (id === authorizer) return functionRecords[authorizer].tables === undefined ? 1 : 1.2;
  return endpoints.some((endpoint) => endpoint.id === id) ? 1.6 : undefined;
}

async function warmRow(folder: string): Promise<Row> {
  const requests = await warmRequests(join(folder, "warm-request"));
  return atMost("warm request", median(requests), maxWarmMilliseconds, inUnit("ms", 3));
}

/** Runs `warm-request.ts` in a process of its own: its log lines are rendered and written, but to nowhere. */
async function warmRequests(folder: string): Promise<number[]> {
  await bundle(pathOf("warm-request.ts"), folder);
  const child = spawn(process.execPath, [join(folder, "index.mjs")], {
    env: environment,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  return await resultOf(child, z.array(z.number()));
}
