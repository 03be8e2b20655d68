import { execFileSync } from "node:child_process";
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
const minThreadsRatio = 1.6;
const maxBytes = 300 * mebibyte;
const minDevicesPerSecond = 2_000;
const pairs = sized(3, 1);

const sortedTiles = sized(960, 8);
const importedTiles = sized(2_035, 8);
const parsedTiles = sized(60, 2);
const storedDevices = sized(50_000, 500);
const manyDevices = sized(1_000_000, 1_000);

/** What imports take. */
export const imports: Bench = {
  about: [
    "What imports take. Each is run in a process of its own; its processor time and maximum resident memory are all of it.",
    "“Parsed and sorted” is the part of an import of densities that threads help with: until the first day could be stored.",
    "Runs with and without threads alternate, and the ratio is the median of the pairs. “Imported” is all of it, with a store",
    "that keeps nothing; its rows come through a pipe from another process, 24 hours of every cell of 2,035 tiles. The",
    "comparison is `csv-parse`, which parses rows of the same kind into objects and does nothing with them.",
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
  const imported = await runWhileGenerating({ kind: "density", path: pipe, threads }, importedTiles);
  await writeTexts(path, countedPeople(parsedTiles));
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
  return forkProgram("import.ts", [JSON.stringify(wanted)], {
    ...process.env,
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: "eu-west-1",
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    [tableVariable(devices)]: "devices",
    [tableVariable(densities)]: "densities",
    [tableVariable(densityImports)]: "density-imports",
  });
}

async function run(wanted: ImportRun, endpoint = ""): Promise<z.infer<typeof result>> {
  return await resultOf(start(wanted, endpoint), result);
}

/** Runs an import of a pipe, into which another process writes; that ends with the import, whatever becomes of it. */
async function runWhileGenerating(
  wanted: ImportRun & { readonly path: string },
  tiles: number,
): Promise<z.infer<typeof result>> {
  const database = await openDatabase(undefined);
  await createTables(database.endpoint, credentials, [declaredTable(densityImports, "density-imports")]);
  const generator = start({ kind: "generate", path: wanted.path, tiles }, "");
  try {
    return await run(wanted, database.endpoint);
  } finally {
    generator.kill();
    await database.close();
  }
}
