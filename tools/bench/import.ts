import { mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { densityImports } from "../../functions/population-density/import/store/tables.ts";
import { densities } from "../../functions/population-density/tiles/table.ts";
import { devices } from "../../shared/devices/table.ts";
import { tableVariable } from "../../shared/table.ts";
import { temporaryFolder } from "../../shared/temporary-folder.ts";
import { declaredTable } from "../local/declared/declared-table.ts";
import { createTables, openDatabase } from "../local/servers/database.ts";
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
import { countedPeople, deviceLines, writeTexts } from "./import-data.ts";
import { forkProgram, resultOf } from "./process.ts";
import type { ImportRun } from "./programs/import.ts";

const minParserRatio = 2;
const minStoredRatio = 1.4;
const minThreadsRatio = 1.2;
const maxBytes = 614 * mebibyte;
const maxGrowth = 1.1;
const maxBytesOfDevices = 512 * mebibyte;
const minDevicesPerSecond = 2_000;
const pairs = sized(3, 1);
/** They read the file into the page cache. */
const firstPairs = sized(1, 0);

const sortedTiles = sized(960, 8);
/** Five million rows, and ten times as many: a country has 828 million a day. */
const storedTiles = sized(200, 2);
const manyTiles = sized(2_035, 16);
const storedDevices = sized(50_000, 500);
const manyDevices = sized(1_000_000, 1_000);

/** What imports take. */
export const imports: Bench = {
  about: [
    "Each import runs in a process of its own, with the flags of `npm run ncs`; processor time and maximum resident memory",
    "are all of it. Rows are those of every cell and hour of a day, “imported” into a store that keeps nothing, “stored” in",
    "the embedded one, a thread next to the import on the same processors. The comparison is `csv-parse`, which parses such",
    "rows into objects: an import that does the rest too takes at most half of that. Threads help until the first day could",
    "be stored; below 1.2 × they would not be worth their memory. An import of any number of rows, which are sorted on disk,",
    "fits with `npm start` into 1.25 GiB, and one of a million devices into 1 GiB. Devices have five identifiers each, and",
    "are checked before they are written.",
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
  const importing = { kind: "density", path, threads } as const;
  const temporary = join(folder, "temporary");
  mkdirSync(temporary);
  const withoutStore = { ...importing, store: "none" } as const;
  await writeTexts(path, countedPeople(manyTiles));
  const many = await withDatabase((endpoint) => run(withoutStore, endpoint, temporary));
  await writeTexts(path, countedPeople(storedTiles));
  const imported = await withDatabase((endpoint) => run(withoutStore, endpoint));
  const stored = await withDatabase((endpoint) => run({ ...importing, store: "embedded" }, endpoint));
  const parsed = await run({ kind: "parse", path });
  const rows = many.count.toLocaleString("en");
  const rate = imported.count / imported.cpuSeconds;
  const parserRate = parsed.count / parsed.cpuSeconds;
  const perSecond = inUnit("rows");
  return [
    shown("rows parsed and sorted per CPU second", perSecond(median(rates))),
    atLeast(
      `rows parsed and sorted with ${threads} threads, over one`,
      median(ratios),
      minThreadsRatio,
      times,
    ),
    shown("rows imported per CPU second", perSecond(rate)),
    shown("rows parsed by `csv-parse` per CPU second", perSecond(parserRate)),
    atLeast("rows imported per CPU second, over `csv-parse`", rate / parserRate, minParserRatio, times),
    atMost(`${rows} rows imported: memory`, many.bytes, maxBytes, mebibytes),
    atMost(
      `memory for ${rows} rows, over that for ${imported.count.toLocaleString("en")}`,
      many.bytes / imported.bytes,
      maxGrowth,
      times,
    ),
    shown(`${rows} rows imported: minutes`, (many.seconds / 60).toFixed(1)),
    shown(`${rows} rows imported: temporary files`, mebibytes(many.temporaryBytes)),
    atLeast(
      `${stored.count.toLocaleString("en")} rows stored per CPU second, over \`csv-parse\``,
      stored.count / stored.cpuSeconds / parserRate,
      minStoredRatio,
      times,
    ),
  ];
}

async function deviceRows(folder: string): Promise<Row[]> {
  const path = join(folder, "devices.ndjson");
  await writeTexts(path, deviceLines(storedDevices));
  const stored = await withDatabase((endpoint) =>
    run({ kind: "devices", path, store: "embedded" }, endpoint),
  );

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
      maxBytesOfDevices,
      mebibytes,
    ),
  ];
}

const tables = [devices, densities, densityImports];
const credentials = { accessKeyId: "local", secretAccessKey: "local" };
const result = z.object({
  count: z.number(),
  temporaryBytes: z.number(),
  seconds: z.number(),
  cpuSeconds: z.number(),
  bytes: z.number(),
});

/** @param temporary the folder for temporary files, if their size is asked for. */
async function run(wanted: ImportRun, endpoint = "", temporary?: string): Promise<z.infer<typeof result>> {
  const env = {
    ...process.env,
    ...(temporary === undefined ? {} : { TMPDIR: temporary }),
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: "eu-west-1",
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    ...Object.fromEntries(tables.map((table) => [tableVariable(table), table.name])),
  };
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
  const flagsOfCommands = scripts.ncs.match(/--max-\S+/g);
  return await resultOf(forkProgram("import.ts", [JSON.stringify(wanted)], env, flagsOfCommands), result);
}

/** Runs something with a new store that has the tables. */
async function withDatabase<Result>(use: (endpoint: string) => Promise<Result>): Promise<Result> {
  const database = await openDatabase(undefined);
  await createTables(
    database.endpoint,
    credentials,
    tables.map((table) => declaredTable(table, table.name)),
  );
  try {
    return await use(database.endpoint);
  } finally {
    await database.close();
  }
}
