import { execFileSync } from "node:child_process";
import { join } from "node:path";
import * as z from "zod";
import { densityImports } from "../../functions/population-density/import/store/tables.ts";
import { densities } from "../../functions/population-density/tiles/table.ts";
import { tableVariable } from "../../shared/table.ts";
import { temporaryFolder } from "../../shared/temporary-folder.ts";
import { embeddedCredentials } from "../local/servers/backing-server.ts";
import { createTables, openDatabase } from "../local/servers/database.ts";
import { declaredTable } from "../local/servers/declared-table.ts";
import { atLeast, atMost, type Bench, inUnit, mebibytes, type Row, shown, sized, times } from "./bench.ts";
import { mebibyte } from "./city-densities.ts";
import { countedPeople, writeTexts } from "./import-data.ts";
import { forkProgram, resultOf } from "./process.ts";
import type { ImportRun } from "./programs/import.ts";

/** An import suppresses, sums and stores what `csv-parse` only parses. */
const minParserRatio = 3;
const minStoredRatio = 1.4;
const maxBytes = 300 * mebibyte;

const importedTiles = sized(2_035, 8);
const storedTiles = sized(200, 2);

/** What an import of densities takes. */
export const imports: Bench = {
  about: [
    "What an import of densities takes. Each is run in a process of its own; its processor time and maximum resident memory",
    "are all of it. “Imported” is with a store that keeps nothing; its rows come through a pipe from another process, 24",
    "hours of every cell of 2,035 tiles. “Imported and stored” is a first import of 200 such tiles into the embedded store, a",
    "thread next to the import on the same processors. The comparison is `csv-parse`, which parses the rows of these 200",
    "tiles into objects and does nothing with them.",
  ].join("\n"),
  run: async () => {
    const folder = temporaryFolder("bench-import-");
    try {
      return await importRows(folder.path);
    } finally {
      folder.remove();
    }
  },
};

async function importRows(folder: string): Promise<Row[]> {
  const [pipe, path] = [join(folder, "pipe.csv"), join(folder, "counted.csv")];
  execFileSync("mkfifo", [pipe]);
  const imported = await withDatabase(async (endpoint) => {
    const generator = start({ kind: "generate", path: pipe, tiles: importedTiles }, "");
    try {
      return await run({ kind: "import", path: pipe, isStored: false }, endpoint);
    } finally {
      generator.kill();
    }
  });
  await writeTexts(path, countedPeople(storedTiles));
  const stored = await withDatabase((endpoint) => run({ kind: "import", path, isStored: true }, endpoint));
  const parsed = await run({ kind: "parse", path }, "");
  const rate = (one: typeof parsed) => one.rows / one.cpuSeconds;
  const rows = (one: typeof parsed) => `${one.rows.toLocaleString("en")} rows`;
  const perSecond = inUnit("rows");
  const over = "over rows that `csv-parse` parses per CPU second";
  return [
    shown(`${rows(imported)} imported per CPU second`, perSecond(rate(imported))),
    shown(`${rows(parsed)} parsed by \`csv-parse\` per CPU second`, perSecond(rate(parsed))),
    atLeast(`rows imported ${over}`, rate(imported) / rate(parsed), minParserRatio, times),
    atMost(`${rows(imported)} imported, memory`, imported.bytes, maxBytes, mebibytes),
    atLeast(
      `${rows(stored)} imported and stored, ${over}`,
      rate(stored) / rate(parsed),
      minStoredRatio,
      times,
    ),
  ];
}

const result = z.object({ rows: z.number(), cpuSeconds: z.number(), bytes: z.number() });

function start(wanted: ImportRun, endpoint: string) {
  return forkProgram("import.ts", [JSON.stringify(wanted)], {
    ...process.env,
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    AWS_REGION: "eu-west-1",
    AWS_ACCESS_KEY_ID: embeddedCredentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: embeddedCredentials.secretAccessKey,
    [tableVariable(densities)]: "densities",
    [tableVariable(densityImports)]: "density-imports",
  });
}

async function run(wanted: ImportRun, endpoint: string): Promise<z.infer<typeof result>> {
  return await resultOf(start(wanted, endpoint), result);
}

/** Runs something with a new store that has the tables of densities. */
async function withDatabase<Result>(use: (endpoint: string) => Promise<Result>): Promise<Result> {
  const database = await openDatabase(undefined);
  const declared = [declaredTable(densities, "densities"), declaredTable(densityImports, "density-imports")];
  await createTables(database.endpoint, embeddedCredentials, declared);
  try {
    return await use(database.endpoint);
  } finally {
    await database.close();
  }
}
