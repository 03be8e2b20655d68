import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { densityImports } from "../../functions/population-density/import/store/tables.ts";
import { densities } from "../../functions/population-density/tiles/table.ts";
import { devices } from "../../shared/devices/table.ts";
import { tableVariable } from "../../shared/table.ts";
import { temporaryFolder } from "../../shared/temporary-folder.ts";
import { createTables, openDatabase } from "../local/servers/database.ts";
import { declaredTable } from "../local/servers/declared-table.ts";
import { listen } from "../local/servers/listening-server.ts";
import {
  atLeast,
  atMost,
  type Bench,
  inUnit,
  mebibytes,
  median,
  type Row,
  shown,
  sized,
  times,
} from "./bench.ts";
import { mebibyte } from "./city-densities.ts";
import { countedPeople, deviceLines, rowsPerTile, writeTexts } from "./import-data.ts";
import { forkProgram, resultOf } from "./process.ts";
import type { ImportRun } from "./programs/import.ts";

/** An import suppresses, sums and stores what `csv-parse` only parses. */
const minParserRatio = 3;
const minStoredRatio = 1.4;
const minThreadsRatio = 1.6;
const maxBytes = 300 * mebibyte;
const minDevicesPerSecond = 2_000;
const pairs = sized(3, 1);
/** They read the file into the page cache. */
const firstPairs = sized(1, 0);

const sortedTiles = sized(960, 8);
const importedTiles = sized(2_035, 8);
const storedTiles = sized(200, 2);
const storedDevices = sized(50_000, 500);
const manyDevices = sized(1_000_000, 1_000);

/** What imports take. */
export const imports: Bench = {
  about: [
    "What imports take. Each is run in a process of its own, with the flags of `npm run ncs`; its processor time and",
    "maximum resident memory are all of it.",
    "“Parsed and sorted” is the part of an import of densities that threads help with: until the first day could be stored.",
    "Runs with and without threads alternate, and the ratio is the median of the pairs. “Imported” is all of it, with a store",
    "that keeps nothing; its rows come through a pipe from another process, 24 hours of every cell of 2,035 tiles. “Imported",
    "and stored” is a first import of 200 such tiles into the embedded store. The comparison is `csv-parse`, which parses",
    "the rows of these 200 tiles into objects and does nothing with them.",
    "Devices have five identifiers each, and are checked before they are written. The embedded store is a thread next to the",
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
  for (let pair = -firstPairs; pair < pairs; pair++) {
    const alone = await run({ kind: "sort", path, threads: 0 });
    const together = await run({ kind: "sort", path, threads });
    if (pair < 0) continue;
    ratios.push(alone.seconds / together.seconds);
    rates.push(alone.count / alone.cpuSeconds);
  }
  const pipe = join(folder, "pipe.csv");
  execFileSync("mkfifo", [pipe]);
  const importing = { kind: "density", threads } as const;
  const imported = await withDatabase(async (endpoint) => {
    const generator = start({ kind: "generate", path: pipe, tiles: importedTiles }, "");
    try {
      return await run({ ...importing, path: pipe, store: "none" }, endpoint);
    } finally {
      generator.kill();
    }
  });
  await writeTexts(path, countedPeople(storedTiles));
  const stored = await withDatabase((endpoint) => run({ ...importing, path, store: "embedded" }, endpoint));
  const parsed = await run({ kind: "parse", path });
  const rows = imported.count.toLocaleString("en");
  const rate = imported.count / imported.cpuSeconds;
  const parserRate = parsed.count / parsed.cpuSeconds;
  return [
    shown(
      `${(sortedTiles * rowsPerTile).toLocaleString("en")} rows parsed and sorted per CPU second`,
      inUnit("rows")(median(rates)),
    ),
    atLeast(`the same with ${threads} threads, over one`, median(ratios), minThreadsRatio, times),
    shown(`${rows} rows imported per CPU second`, inUnit("rows")(rate)),
    shown(
      `${parsed.count.toLocaleString("en")} rows parsed by \`csv-parse\` per CPU second`,
      inUnit("rows")(parserRate),
    ),
    atLeast(
      "rows imported over rows that `csv-parse` parses per CPU second",
      rate / parserRate,
      minParserRatio,
      times,
    ),
    atMost(`${rows} rows imported, memory`, imported.bytes, maxBytes, mebibytes),
    atLeast(
      `${stored.count.toLocaleString("en")} rows imported and stored, over rows that \`csv-parse\` parses per CPU second`,
      stored.count / stored.cpuSeconds / parserRate,
      minStoredRatio,
      times,
    ),
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
      inUnit("devices"),
    ),
    atMost(
      `${many.count.toLocaleString("en")} devices into a store that keeps nothing, memory`,
      many.bytes,
      maxBytes,
      mebibytes,
    ),
  ];
}

const credentials = { accessKeyId: "local", secretAccessKey: "local" };
const result = z.object({
  count: z.number(),
  seconds: z.number(),
  cpuSeconds: z.number(),
  bytes: z.number(),
});

function start(wanted: ImportRun, endpoint: string) {
  const env = {
    ...process.env,
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: "eu-west-1",
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    [tableVariable(devices)]: "devices",
    [tableVariable(densities)]: "densities",
    [tableVariable(densityImports)]: "density-imports",
  };
  return forkProgram("import.ts", [JSON.stringify(wanted)], env, flagsOfCommands());
}

/** The flags of Node.js with which `npm run ncs` runs an import. */
function flagsOfCommands(): string[] {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
  return scripts.ncs.match(/--max-\S+/g);
}

async function run(wanted: ImportRun, endpoint = ""): Promise<z.infer<typeof result>> {
  return await resultOf(start(wanted, endpoint), result);
}

/** Runs something with a new store that has the tables of densities. */
async function withDatabase<Result>(use: (endpoint: string) => Promise<Result>): Promise<Result> {
  const database = await openDatabase(undefined);
  await createTables(database.endpoint, credentials, [
    declaredTable(densities, "densities"),
    declaredTable(densityImports, "density-imports"),
  ]);
  try {
    return await use(database.endpoint);
  } finally {
    await database.close();
  }
}
