import { execFile } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import type { Metafile } from "esbuild";
import * as z from "zod";
import { endpoints } from "../../functions/areas.ts";
import { functionIds } from "../../infra/bundles.ts";
import { type FunctionId, functionDefaults, functionRecords } from "../../infra/functions.ts";
import { temporaryFolder } from "../../shared/temporary-folder.ts";
import { buildFunctions, bundle } from "../build.ts";
import { eventsFolder, readEvent } from "../event-files.ts";
import { demoData } from "../import/data-files.ts";
import { startDemoService } from "../local/demo-service.ts";
import type { LocalService } from "../local/service.ts";
import { bundleVariables, makeBundles } from "../made-bundles.ts";
import { RuntimeClient } from "../runtime-client.ts";
import { atMost, type Bench, inUnit, median, type Row, shown, sized, times } from "./bench.ts";
import { pathOf } from "./process.ts";

/** What a function costs before its first request, and what later ones take. */
export const start: Bench = {
  about: [
    "“Read eagerly” is the size of a bundle's entry and of all that it imports statically. “Import” is the time of",
    "`import()` in fresh processes, over that of a bundle that contains only `@aws-sdk/client-dynamodb`, imported just",
    "before: the median of the pairs. Shown is the largest of the functions that callers wait for.",
    "",
    "The worker of deliveries is compared with a plain function: Powertools' logger and parser, and one read of DynamoDB.",
    "So is the processor time of a new function's first request, which includes its connection unless that was made when",
    "the function was loaded, as on Lambda.",
    "",
    "“Processor time” is that of a function on AWS's runtime interface client and the tables of `npm start`, which is given",
    "one event of `events/` after the other. Its limit is what [the costs](limits-and-cost.md#cost) assume.",
  ].join("\n"),
  run: async () => {
    const { path, remove } = temporaryFolder("bench-start-");
    try {
      return [...(await importRows(path)), ...(await requestRows(join(path, plain)))];
    } finally {
      remove();
    }
  },
};

const maxKibibytes = 380;
const maxImportRatio = 1.6;
const maxAuthorizerRatio = 1.2;
const maxPlainRatio = 1;
const turns = sized(21, 1);
/** They fill the file system's cache and are dropped. */
const firstTurns = sized(1, 0);

const kibibytes = inUnit("KiB", 1);
const authorizer = "authorizer/authorize" satisfies FunctionId;
const worker = "population-density/deliver" satisfies FunctionId;
/** The folder of the bundle of `programs/plain-function.ts`. */
const plain = "plain";
const called = functionIds.filter((id) => endpoints.some((endpoint) => endpoint.id === id));
const others = functionIds.filter((id) => id !== authorizer && !called.includes(id));

async function importRows(folder: string): Promise<Row[]> {
  const { metafile } = await bundle(pathOf("baseline.ts"), join(folder, "baseline"));
  await bundle(pathOf("plain-function.ts"), join(folder, plain));
  const built = await buildFunctions(folder);
  const read = new Map(functionIds.map((id, index) => [id, eagerKibibytes(built[index]?.metafile)]));
  const { ratios, baseline } = await importInTurns(folder);
  const workerOverPlain = await importOverPlain(folder, worker);
  const [largest, slowest] = [largestOf(called, read), largestOf(called, ratios)];
  const [otherLargest, otherSlowest] = [largestOf(others, read), largestOf(others, ratios)];
  return [
    shown("baseline: read eagerly", kibibytes(eagerKibibytes(metafile))),
    shown("baseline: import", inUnit("ms", 1)(baseline)),
    atMost(`read eagerly: ${largest.id}`, largest.value, maxKibibytes, kibibytes),
    atMost(`import over baseline: ${slowest.id}`, slowest.value, maxImportRatio, times),
    atMost(
      `import over baseline: ${authorizer}`,
      ratios.get(authorizer) ?? Number.NaN,
      maxAuthorizerRatio,
      times,
    ),
    atMost(`import over a plain function's: ${worker}`, workerOverPlain, maxPlainRatio, times),
    shown(`read eagerly, nobody waits: ${otherLargest.id}`, kibibytes(otherLargest.value)),
    shown(`import over baseline, nobody waits: ${otherSlowest.id}`, times(otherSlowest.value)),
  ];
}

function largestOf(ids: readonly FunctionId[], values: ReadonlyMap<FunctionId, number>) {
  const [largest] = ids
    .map((id) => ({ id, value: values.get(id) ?? Number.NaN }))
    .sort((one, other) => other.value - one.value);
  if (largest === undefined) throw new Error("there is no function");
  return largest;
}

/** What Node.js reads before a bundle's handler can be called: its entry and all that it imports statically. */
function eagerKibibytes(metafile: Metafile | undefined): number {
  const outputs = metafile?.outputs ?? {};
  const entries = Object.keys(outputs).filter((path) => /\/index-\w+\.mjs$/.test(path));
  if (entries.length !== 1) throw new Error("not the metafile of one bundle");
  const reached = new Set(entries);
  for (const path of reached) {
    for (const { path: imported, kind, external } of outputs[path]?.imports ?? []) {
      if (kind === "import-statement" && external !== true) reached.add(imported);
    }
  }
  return [...reached].reduce((bytes, path) => bytes + (outputs[path]?.bytes ?? Number.NaN), 0) / 1_024;
}

/**
 * Imports every function once a turn, each time right after the baseline: what slows the machine for a while slows both.
 */
async function importInTurns(folder: string) {
  const baselines: number[] = [];
  const pairs = new Map<FunctionId, number[]>(functionIds.map((id) => [id, []]));
  for (let turn = -firstTurns; turn < turns; turn++) {
    for (const [id, ratios] of pairs) {
      const baseline = await importOnce(join(folder, "baseline"));
      const measured = await importOnce(join(folder, id));
      if (turn < 0) continue;
      baselines.push(baseline);
      ratios.push(measured / baseline);
    }
  }
  return {
    baseline: median(baselines),
    ratios: new Map([...pairs].map(([id, ratios]) => [id, median(ratios)])),
  };
}

async function importOverPlain(folder: string, id: FunctionId): Promise<number> {
  const ratios: number[] = [];
  for (let turn = -firstTurns; turn < turns; turn++) {
    const comparison = await importOnce(join(folder, plain));
    const measured = await importOnce(join(folder, id));
    if (turn >= 0) ratios.push(measured / comparison);
  }
  return median(ratios);
}

const run = promisify(execFile);

async function importOnce(folder: string): Promise<number> {
  const module = pathToFileURL(join(folder, "index.mjs")).href;
  // Nothing of the shell's environment reaches what is measured.
  const env = { PATH: process.env.PATH };
  const { stdout } = await run(process.execPath, [pathOf("cold-import.mjs"), module], { env });
  return z.number().parse(JSON.parse(stdout));
}

/** Requests, with the milliseconds of their function that the costs assume. */
const requests = [
  { event: "population-density/retrieve.200-example.json", assumedMilliseconds: 60 },
  { event: "device-identifier/retrieve.200-by-phone-number.json", assumedMilliseconds: 25 },
];
const warmUpRequests = sized(1_500, 5);
const measuredRequests = sized(2_000, 5);
/** Lambda gives a function with this memory one processor. */
const megabytesOfProcessor = 1_769;

async function requestRows(plainBundle: string): Promise<Row[]> {
  const { bundles, remove } = await makeBundles();
  const service = await startDemoService({
    environment: {},
    extraEnvironment: { RATE_LIMIT_PER_MINUTE: "1000000000", DAILY_QUOTA: "1000000000" },
    port: 0,
    data: demoData,
    logs: { write: () => true },
  });
  try {
    const rows: Row[] = [];
    for (const { event } of requests) rows.push(await firstRow(service, bundles, event, plainBundle));
    for (const request of requests) rows.push(await warmRow(service, bundles, request));
    return rows;
  } finally {
    await service.close();
    remove();
  }
}

/** A log stream as Lambda names it: only there a function reads while it is loaded. */
const onLambda = { AWS_LAMBDA_LOG_STREAM_NAME: "2026/11/27/[$LATEST]0123456789abcdef" };

async function firstRow(
  service: LocalService,
  bundles: string,
  name: string,
  plainBundle: string,
): Promise<Row> {
  const { functionId, event } = await readEvent(`${eventsFolder}/${name}`);
  const own = { ...environmentOf(service, bundles, functionId), ...onLambda };
  const comparison = { ...own, LAMBDA_TASK_ROOT: plainBundle, _HANDLER: "index.handler" };
  const ratios: number[] = [];
  for (let turn = -firstTurns; turn < turns; turn++) {
    const ofPlain = await firstMilliseconds(comparison, event);
    const measured = await firstMilliseconds(own, event);
    if (turn >= 0) ratios.push(measured / ofPlain);
  }
  const what = `processor time of the first request over a plain function's: ${functionId}`;
  return atMost(what, median(ratios), maxPlainRatio, times);
}

async function firstMilliseconds(
  environment: Readonly<Record<string, string>>,
  event: unknown,
): Promise<number> {
  const client = new RuntimeClient();
  await client.start(environment);
  try {
    const before = await client.cpuMilliseconds();
    await invoke(client, event, 1);
    return (await client.cpuMilliseconds()) - before;
  } finally {
    await client.close();
  }
}

function environmentOf(service: LocalService, bundles: string, id: FunctionId): Record<string, string> {
  return { ...service.environmentOf(id), ...bundleVariables(bundles, id) };
}

async function warmRow(
  service: LocalService,
  bundles: string,
  { event: name, assumedMilliseconds }: (typeof requests)[number],
): Promise<Row> {
  const { functionId, event } = await readEvent(`${eventsFolder}/${name}`);
  const client = new RuntimeClient();
  const { memoryMegabytes } = { ...functionDefaults, ...functionRecords[functionId] };
  await client.start(environmentOf(service, bundles, functionId));
  try {
    await invoke(client, event, warmUpRequests);
    const before = await client.cpuMilliseconds();
    await invoke(client, event, measuredRequests);
    const milliseconds = ((await client.cpuMilliseconds()) - before) / measuredRequests;
    const assumed = (assumedMilliseconds * memoryMegabytes) / megabytesOfProcessor;
    return atMost(`processor time of a warm request: ${functionId}`, milliseconds, assumed, inUnit("ms", 1));
  } finally {
    await client.close();
  }
}

async function invoke(client: RuntimeClient, event: unknown, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const { result, streamed } = await client.invoke(event);
    const answer = result === undefined ? streamed.toString() : JSON.stringify(result);
    if (!answer.includes('"statusCode":200'))
      throw new Error(`a request was answered ${answer.slice(0, 300)}`);
  }
}
