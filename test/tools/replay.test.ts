import { cp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DynamoDBClient, paginateScan } from "@aws-sdk/client-dynamodb";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { answerTo } from "../../functions/population-density/answer/answer-to.ts";
import { bodyOf } from "../../functions/population-density/answer/json.ts";
import { boxOf } from "../../functions/population-density/cover/box.ts";
import { suffixesOf } from "../../functions/population-density/cover/geohash.ts";
import { polygonOf } from "../../functions/population-density/cover/polygon.ts";
import { excludeDay } from "../../functions/population-density/import/publish/exclude-day.ts";
import { readJournal } from "../../functions/population-density/import/store/journal-store.ts";
import { askedHours } from "../../functions/population-density/query/intervals.ts";
import type { DensityQuery } from "../../functions/population-density/query/parse.ts";
import type { FindingCode } from "../../functions/population-density/tiles/findings.ts";
import { densities } from "../../functions/population-density/tiles/table.ts";
import { outputNames } from "../../infra/output-names.ts";
import { stackNames } from "../../infra/stack-names.ts";
import { tableVariable } from "../../shared/table.ts";
import { importDensity } from "../../tools/import/density/import-density.ts";
import { curveOf } from "../../tools/import/density/population/curve.ts";
import { importPopulation } from "../../tools/import/density/population/import-population.ts";
import { replayImports } from "../../tools/import/density/replay.ts";
import { useOwnDensityTables, useOwnTable, useTables } from "../support/database.ts";
import { runNcs } from "../support/ncs.ts";
import { stackOutputs, useShell } from "../support/operator.ts";
import { useOwnFolder } from "../support/own-folder.ts";

const folder = useOwnFolder();
beforeAll(() => useTables());
beforeEach(async () => {
  await useOwnDensityTables();
  for (const name of ["DENSITY_K", "DENSITY_PRECISIONS"]) vi.stubEnv(name, undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const [monday, friday, nextFriday] = ["2026-11-16", "2026-11-13", "2026-11-20"];
const tile = "u05kq";
const observed = { typical: false, precisions: [6, 7], threshold: 10 };

/** A file of people in cells of a tile, by their index, at eight o'clock. */
async function counts(path: string, date: string, people: Readonly<Record<number, number>>): Promise<string> {
  const rows = Object.entries(people).map(
    ([cell, count]) => `${tile}${suffixesOf(2)[Number(cell)]},${date}T08:00:00Z,${count}`,
  );
  return await folder.write(path, `geohash,startTime,people\n${rows.join("\n")}\n`);
}

/** A box of some cells, outside the tile of the counts. */
const box = { west: 8, south: 47, east: 8.004, north: 47.004 };

/** Imports in every way: regions one by one, a correction, a raised K, a recount and a grid of residents. */
async function importEverything(): Promise<void> {
  const city = await counts("monday/city.csv", monday, { 0: 400, 1: 4, 2: 9 });
  const rest = await counts("monday/rest.csv", monday, { 3: 9, 4: 9, 5: 63 });
  await importDensity({ ...observed, files: [city], provenance: { source: "A", licence: "CC0-1.0" } });
  await importDensity({ ...observed, files: [rest], marketShare: 0.5 });
  const corrected = await counts("tuesday/city.csv", monday, { 0: 390, 1: 5, 2: 8 });
  await importDensity({ ...observed, files: [corrected] });
  await importDensity({ ...observed, files: [await counts("a.csv", friday, { 0: 70, 1: 8 })] });
  const typical = { ...observed, typical: true };
  await importDensity({ ...typical, files: [await counts("typical.csv", friday, { 0: 30, 1: 8, 7: 9 })] });
  await importDensity({
    ...typical,
    isRecounted: true,
    threshold: 20,
    files: [await counts("recounted.csv", friday, { 1: 40, 7: 9, 8: 9 })],
  });
  await importDensity({
    ...observed,
    threshold: 20,
    files: [await counts("b.csv", nextFriday, { 0: 90, 1: 18 })],
  });
  await importPopulation({
    file: await folder.write("people.csv", "latitude,longitude,people\n47.002,8.002,900\n"),
    kind: "points",
    box,
    curve: await curveOf("residential"),
    curveName: "residential",
    precision: 7,
    provenance: { source: "B", licence: "CC-BY-4.0" },
    publishing: { threshold: 20, precisions: [6, 7] },
    isDryRun: false,
  });
}

/** Every item of the densities, byte by byte; but how often it was written. */
async function publishedItems(): Promise<string[]> {
  const client = new DynamoDBClient({});
  const items: string[] = [];
  const TableName = process.env[tableVariable(densities)];
  for await (const { Items = [] } of paginateScan({ client }, { TableName })) {
    for (const { revision: _, ...item } of Items) {
      const attributes = Object.entries(item).sort(([one], [other]) => (one < other ? -1 : 1));
      items.push(JSON.stringify(attributes));
    }
  }
  client.destroy();
  return items.sort();
}

/** The body that callers get of the tile on three days, and of the coarser one around it. */
async function answered(): Promise<string> {
  const { south, west, north, east } = boxOf(tile);
  const polygon = polygonOf([
    { latitude: south, longitude: west },
    { latitude: south, longitude: east },
    { latitude: north, longitude: east },
    { latitude: north, longitude: west },
  ]);
  if (polygon === undefined) throw new Error("a tile is a polygon");
  const now = new Date("2026-11-22T00:00:00Z");
  const asked = [friday, monday, nextFriday, "2026-11-27"].flatMap((date) =>
    askedHours({ first: Date.parse(`${date}T08:00:00Z`) / 3_600_000, count: 1 }, now),
  );
  const bodies: Buffer[] = [];
  for (const precision of [7, 6]) {
    const query = { polygon, asked, precision } as DensityQuery;
    for await (const chunk of bodyOf(await answerTo(query, AbortSignal.timeout(60_000))))
      bodies.push(Buffer.from(chunk));
  }
  return Buffer.concat(bodies).toString();
}

test("a replay after the table of densities was lost refuses changed or missing files and stores nothing; from the original files it restores the same bytes and answers", async () => {
  await importEverything();
  const [before, answer] = [await publishedItems(), await answered()];
  const journal = await readJournal();

  await useOwnTable(densities);
  expect(await answered()).not.toBe(answer);
  const copies = join(folder.path, "copies");
  await cp(join(folder.path, "monday"), copies, { recursive: true });
  await writeFile(join(copies, "rest.csv"), "geohash,startTime,people\n");
  await expect(replayImports({ folder: copies })).rejects.toThrow(
    /rest\.csv: differs from the file that import 2 has read\ncity\.csv: differs from the file that import 3 has read\na\.csv: is not there/,
  );
  expect(await publishedItems()).toEqual([]);
  await rm(copies, { recursive: true });
  const replayed = await replayImports({ folder: folder.path });

  expect(replayed).toMatchObject({ imports: 8, unfinished: [] });
  expect(await publishedItems()).toEqual(before);
  expect(await answered()).toBe(answer);
  expect(await readJournal()).toEqual(journal);
});

test("a replay makes exclusions again in their order, and does not ask again what was accepted", async () => {
  // The first is excluded by its import, the one with 9,000 people later.
  const weeks = {
    "2026-10-19": 12_000,
    "2026-10-26": 4_000,
    "2026-11-02": 4_100,
    "2026-11-09": 9_000,
    "2026-11-16": 4_200,
  };
  for (const [date, people] of Object.entries(weeks)) {
    const file = await counts(`weeks/${date}.csv`, date, { 0: people, 1: 4 });
    const accepted: FindingCode[] = ["PEOPLE_UNUSUAL", "LARGEST_CELL_UNUSUAL"];
    await importDensity({ ...observed, files: [file], accepted, isExcluded: date === "2026-10-19" });
    if (date === "2026-11-16") await excludeDay("2026-11-09", true, new Date("2026-11-22"));
  }
  const before = await publishedItems();

  await useOwnTable(densities);
  await replayImports({ folder: join(folder.path, "weeks") });

  expect(await publishedItems()).toEqual(before);
});

test("a replay that was interrupted can be repeated", async () => {
  const monday1 = await counts("again/1.csv", monday, { 0: 400, 1: 4, 2: 9 });
  const monday2 = await counts("again/2.csv", monday, { 0: 390, 1: 5, 2: 8, 3: 9, 4: 9 });
  await importDensity({ ...observed, files: [monday1] });
  await importDensity({ ...observed, threshold: 10, files: [monday2], marketShare: 0.5 });
  const before = await publishedItems();

  await useOwnTable(densities);
  const spied = failingAt((tile, writes) => tile.startsWith("6/") && writes >= 12);
  await expect(replayImports({ folder: join(folder.path, "again") })).rejects.toThrow("could not be stored");
  spied.mockRestore();
  expect(await publishedItems()).not.toEqual(before);
  await replayImports({ folder: join(folder.path, "again") });

  expect(await publishedItems()).toEqual(before);
});

/** Fails a write of a tile as if the program were killed. */
function failingAt(isFatal: (tile: string, writes: number) => boolean) {
  const sent = DynamoDBClient.prototype.send;
  let writes = 0;
  return vi.spyOn(DynamoDBClient.prototype, "send").mockImplementation(async function (
    this: DynamoDBClient,
    ...parameters
  ) {
    const { Item } = parameters[0].input as { Item?: { tile?: { S?: string } } };
    const tile = Item?.tile?.S;
    if (tile !== undefined && isFatal(tile, writes++)) throw new Error("killed");
    return await Reflect.apply(sent, this, parameters);
  });
}

test("a replay leaves out an import that had not ended", async () => {
  const failing = await counts("failing.csv", monday, { 0: 40, 1: 4 });
  await importDensity({ ...observed, files: [failing] });
  const spied = failingAt((tile) => tile.startsWith("7/"));
  await expect(
    importDensity({ ...observed, files: [await counts("failing.csv", friday, { 0: 41, 1: 4 })] }),
  ).rejects.toThrow();
  spied.mockRestore();
  await counts("failing.csv", monday, { 0: 40, 1: 4 });

  expect(await replayImports({ folder: folder.path })).toMatchObject({
    imports: 1,
    unfinished: [2],
    changed: 0,
  });
});

test("ncs import replay compares the files with the journal and says what it makes again", async () => {
  await importDensity({ ...observed, files: [await counts("alone/a.csv", monday, { 0: 40, 1: 4 })] });
  const outputs = await folder.write(
    "outputs.json",
    stackOutputs({ [outputNames.densityPrecisions]: "6-7" }),
  );
  useShell();
  const replay = (...others: string[]) =>
    runNcs(["import", "replay", join(folder.path, "alone"), "--outputs", outputs, ...others]);

  expect(await replay("--dry-run")).toEqual({
    code: 0,
    stdout: `1 import could be made again in ${stackNames.dev}; nothing was written\n`,
    stderr: "",
  });
  expect(await replay()).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^1: 20\d\d-.*Z density\n1 import made again, 0 of [\d,]+ DynamoDB items changed in /,
    ),
  });
});
