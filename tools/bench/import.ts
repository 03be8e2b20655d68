import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { densities } from "../../functions/population-density/tiles/table.ts";
import { devices } from "../../shared/devices/table.ts";
import { tableVariable } from "../../shared/table.ts";
import { temporaryFolder } from "../../shared/temporary-folder.ts";
import { createTables, openDatabase } from "../local/servers/database.ts";
import { declaredTable } from "../local/servers/declared-table.ts";
import { listen } from "../local/servers/listening-server.ts";
import { type Bench, median, type Row } from "./bench.ts";
import { countedPeople, deviceLines, rowsPerTile, writeTexts } from "./import-data.ts";
import type { ImportRun } from "./import-run.ts";

/** Rows per second of processor time of the import as it was when every row was parsed as an object of its own. */
const rowsPerCpuSecondBefore = 181_000;
/**
 * What the import has gained at least by reading plain CSV byte by byte, by sorting less on disk and by making tiles
 * faster: a tenth less than the 2,290,658 rows that were the median of three runs on two processors on 2026-11-22.
 */
const gainOfParsing = 11.4;
const minThreadsRatio = 1.6;
const maxMebibytes = 300;
const minDevicesPerSecond = 2_000;
const pairs = 3;

const sortedTiles = 960;
const importedTiles = 2_035;
const storedDevices = 50_000;
const manyDevices = 1_000_000;

/** What imports take. */
export const imports: Bench = {
  about: [
    "What imports take. Each is run in a process of its own; its processor time and maximum resident memory are all of it.",
    "“Parsed and sorted” is the part of an import of densities that threads help with: until the first day could be stored.",
    "Runs with and without threads alternate, and the ratio is the median of the pairs. “Imported” is all of it, with a store",
    "that keeps nothing; its rows come through a pipe from another process, 24 hours of every cell of 2,035 tiles.",
    "Devices have five identifiers each, and are checked before they are written. The embedded store is a thread beside the",
    "import on the same processors.",
  ].join("\n"),
  run: async () => {
    const folder = temporaryFolder("bench-import-");
    try {
      return [...(await densityRows(folder.path)), ...(await deviceRows(folder.path))];
    } finally {
      folder.remove();
    }
  },
};

async function densityRows(folder: string): Promise<Row[]> {
  const path = join(folder, "counted.csv");
  await writeTexts(path, countedPeople(sortedTiles));
  const ratios: number[] = [];
  const rates: number[] = [];
  const threads = Math.min(2, availableParallelism());
  for (let pair = 0; pair <= pairs; pair++) {
    const alone = await run({ kind: "sort", path, threads: 0 });
    const together = await run({ kind: "sort", path, threads });
    // The first pair reads the file into the page cache.
    if (pair === 0) continue;
    ratios.push(alone.seconds / together.seconds);
    rates.push(alone.count / alone.cpuSeconds);
  }
  const pipe = join(folder, "pipe.csv");
  execFileSync("mkfifo", [pipe]);
  const [imported] = await Promise.all([
    run({ kind: "density", path: pipe, threads }),
    generate(pipe, importedTiles),
  ]);
  const rows = imported.count.toLocaleString("en");
  const rate = imported.count / imported.cpuSeconds;
  return [
    {
      what: `${(sortedTiles * rowsPerTile).toLocaleString("en")} rows parsed and sorted, a processor's second`,
      measured: `${Math.round(median(rates)).toLocaleString("en")} rows`,
      holds: true,
    },
    atLeast(`the same with ${threads} threads, over one`, median(ratios), minThreadsRatio, " ×", 2),
    atLeast(
      `${rows} rows imported, a processor's second`,
      rate,
      rowsPerCpuSecondBefore * gainOfParsing,
      " rows",
    ),
    atMost(`${rows} rows imported, memory`, imported.mebibytes, maxMebibytes),
  ];
}

async function deviceRows(folder: string): Promise<Row[]> {
  const path = join(folder, "devices.ndjson");
  await writeTexts(path, deviceLines(storedDevices));
  const database = await openDatabase(undefined);
  await createTables(database.endpoint, credentials, [declaredTable(devices, "devices")]);
  const stored = await run({ kind: "devices", path, store: "embedded" }, database.endpoint);
  await database.close();

  await writeTexts(path, deviceLines(manyDevices));
  const server = await listen(
    createServer((_, response) => response.end("{}")),
    0,
  );
  const many = await run({ kind: "devices", path, store: "none" }, server.url);
  await server.close();
  return [
    atLeast(
      `${stored.count.toLocaleString("en")} devices into the embedded store, a second`,
      stored.count / stored.seconds,
      minDevicesPerSecond,
      " devices",
    ),
    atMost(
      `${many.count.toLocaleString("en")} devices into a store that keeps nothing, memory`,
      many.mebibytes,
      maxMebibytes,
    ),
  ];
}

function atLeast(what: string, value: number, bar: number, unit: string, digits = 0): Row {
  const shown = (number: number) =>
    number.toLocaleString("en", { maximumFractionDigits: digits, minimumFractionDigits: 0 });
  return { what, measured: `${shown(value)}${unit}`, bar: `≥ ${shown(bar)}${unit}`, holds: value >= bar };
}

function atMost(what: string, mebibytes: number, bar: number): Row {
  return { what, measured: `${mebibytes.toFixed(0)} MiB`, bar: `≤ ${bar} MiB`, holds: mebibytes <= bar };
}

const credentials = { accessKeyId: "local", secretAccessKey: "local" };
const program = fileURLToPath(new URL("./import-run.ts", import.meta.url));
const result = z.object({
  count: z.number(),
  seconds: z.number(),
  cpuSeconds: z.number(),
  mebibytes: z.number(),
});

function start(wanted: ImportRun, endpoint: string) {
  return fork(program, [JSON.stringify(wanted)], {
    execArgv: ["--import", import.meta.resolve("tsx")],
    env: {
      ...process.env,
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
      AWS_ENDPOINT_URL_DYNAMODB: endpoint,
      AWS_REGION: "eu-west-1",
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      [tableVariable(devices)]: "devices",
      [tableVariable(densities)]: "densities",
    },
  });
}

async function run(wanted: ImportRun, endpoint = ""): Promise<z.infer<typeof result>> {
  const child = start(wanted, endpoint);
  const sent = once(child, "message").then(([message]) => result.parse(message));
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`a measured import (${wanted.kind}) ended with exit code ${code} and no result`);
  });
  const measured = await Promise.race([sent, ended]);
  // Clients and their connections would keep it.
  child.disconnect();
  child.kill();
  return measured;
}

async function generate(path: string, tiles: number): Promise<void> {
  await once(start({ kind: "generate", path, tiles }, ""), "exit");
}
