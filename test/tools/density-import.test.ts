import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { boxOf } from "../../functions/population-density/cover/box.ts";
import { cellArea } from "../../functions/population-density/cover/cell-area.ts";
import { geohashAt, gridOf, suffixesOf } from "../../functions/population-density/cover/geohash.ts";
import { rowsOf } from "../../functions/population-density/import/rows/read-rows.ts";
import { withSortedDays } from "../../functions/population-density/import/sort/sorted-days.ts";
import type { CountedTile } from "../../functions/population-density/privacy/counted.ts";
import { currentDataSet } from "../../functions/population-density/tiles/data-set-store.ts";
import { observedDay, typicalDay } from "../../functions/population-density/tiles/store.ts";
import { isCovered, readTileDay } from "../../functions/population-density/tiles/tile.ts";
import { outputNames } from "../../infra/output-names.ts";
import { Problems } from "../../shared/import/problems.ts";
import { importFolder } from "../../tools/import/data-folder.ts";
import { polygonAround } from "../../tools/import/density/box.ts";
import { importDensityFolder } from "../../tools/import/density/density-folder.ts";
import { datesBefore } from "../../tools/import/density/generate-density.ts";
import { geoNamesModel } from "../../tools/import/density/geonames-model.ts";
import { type DensityImport, importDensity } from "../../tools/import/density/import-density.ts";
import { modelDays } from "../../tools/import/density/modelled-days.ts";
import { useOwnDensityTables, useTables } from "../support/database.ts";
import { boxIn, freshTile } from "../support/densities.ts";
import { runNcs } from "../support/ncs.ts";
import { stackOutputs, useShell } from "../support/operator.ts";
import { useOwnFolder } from "../support/own-folder.ts";
import { sourceOf } from "../support/rows.ts";
import { isWhole } from "../support/sample.ts";
import { stored } from "../support/stored-days.ts";

const folder = useOwnFolder();
beforeAll(() => useTables());
beforeEach(async () => {
  // A table has one K and keeps its precisions.
  await useOwnDensityTables();
  // The command sets them to what the stack has.
  for (const name of ["DENSITY_K", "DENSITY_PRECISIONS"]) vi.stubEnv(name, undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

/** A file in a folder of its own. */
const fileOf = (name: string, content: string) => folder.write(join(crypto.randomUUID(), name), content);

/** The tile at precision 7 that a place is in. */
function tileAt(latitude: number, longitude: number): string {
  const { cellHeight, cellWidth } = gridOf(7);
  const [row, column] = [(latitude + 90) / cellHeight, (longitude + 180) / cellWidth].map(Math.floor);
  return geohashAt(row ?? 0, column ?? 0, 7).slice(0, -2);
}

/** What is published of a cell in an hour: people with their range, as well as its density tells them. */
async function publishedOf(geohash: string, day: string, hour: number) {
  const item = await stored(geohash.slice(0, -2), day);
  const opened = item && readTileDay(item.hours).openHour(hour);
  const cell = suffixesOf(2).indexOf(geohash.slice(-2));
  if (opened?.kind(cell) !== "DENSITY_ESTIMATION") return opened?.kind(cell);
  const densities = [opened.minimum(cell), opened.value(cell), opened.maximum(cell)];
  return densities.map((density) => density * cellArea(geohash));
}

async function coveredIn(geohash: string, day: string): Promise<string[]> {
  const item = await stored(geohash, day);
  if (item === undefined) return [];
  const { coverage } = readTileDay(item.hours);
  return suffixesOf(2).filter((_, cell) => isCovered(coverage, cell));
}

/** Matches a number that is at most 2 % away: densities are rounded, and their ranges are rounded outwards. */
function about(...numbers: readonly number[]): number[] {
  return numbers.map((number) => expect.closeTo(number, -Math.log10(number / 25)));
}

const header = "geohash,startTime,people,minPeople,maxPeople";
const friday = "2026-11-20";
const observed = { typical: false, precisions: isWhole ? [6, 7] : [7], threshold: 10 };

async function importRows(rows: readonly string[], options: Partial<DensityImport> = {}) {
  const path = await fileOf("counted.csv", [header, ...rows].join("\n"));
  return await importDensity({ ...observed, files: [path], ...options });
}

/** A GeoJSON file with four cells of a tile, by the place of the first: those of 0 are 00, 01, 02 and 03. */
async function fourCells(tile: string, first: number): Promise<string> {
  const ring = boxIn(tile, [first, first], [first + 1, first + 1]).map((at) => [at.longitude, at.latitude]);
  return await fileOf("area.geojson", JSON.stringify({ type: "Polygon", coordinates: [[...ring, ring[0]]] }));
}

test("an import of densities keeps the hours of both dates of a recounted weekday when another region follows", async () => {
  const tile = freshTile();
  // In UTC a week of another time zone begins and ends on the same weekday.
  const rows = [`${tile}00,${friday}T22:00:00Z,5000,,`, `${tile}00,2026-11-27T08:00:00Z,7000,,`];
  const typical = { typical: true, precisions: [6, 7] };
  await importRows(rows, { ...typical, isRecounted: true });
  await importRows([`${tile}01,${friday}T22:00:00Z,3000,,`, `${tile}01,${friday}T08:00:00Z,1000,,`], typical);

  const parent = `${tile}0`;
  const item = await stored(parent.slice(0, -2), typicalDay(5));
  const area = cellArea(`${tile}00`) + cellArea(`${tile}01`);
  for (const [hour, people] of [
    [22, 8_000],
    [8, 8_000],
  ] as const) {
    const opened = item && readTileDay(item.hours).openHour(hour);
    const density = opened?.value(suffixesOf(2).indexOf(parent.slice(-2))) ?? Number.NaN;
    expect([density * area]).toEqual(about(people));
  }
});

test("an import of densities returns the box of what it covered, and the hours that its newest day has", async () => {
  const cell = `${freshTile()}pb`;
  const at = (time: string) => `${cell},${time}:00Z,50,50,50`;

  const { extent } = await importRows([
    at("2026-11-20T23:00"),
    at("2026-11-21T05:00"),
    at("2026-11-21T07:00"),
  ]);

  const newest = { start: new Date("2026-11-21T05:00Z"), hours: 3 };
  expect(extent).toEqual({ box: boxOf(cell), precision: 7, isTypical: false, newest });
});

test("an import of densities publishes what was counted, and changes nothing when it is repeated", async () => {
  const tile = freshTile();
  const rows = [`${tile}00,${friday}T08:00:00Z,5000,4000,6000`, `${tile}zz,${friday}T09:00:00+02:00,3,,`];
  const precisions = [6, 7];

  const first = await importRows(rows, { precisions });

  expect(first).toMatchObject({ rows: 2 });
  expect(await publishedOf(`${tile}00`, observedDay(friday), 8)).toEqual(about(4_000, 5_000, 6_000));
  expect(await publishedOf(`${tile}zz`, observedDay(friday), 8)).toBe("LOW_DENSITY");
  expect(await publishedOf(`${tile}11`, observedDay(friday), 8)).toBe("NO_DATA");
  expect(await publishedOf(`${tile}00`, observedDay(friday), 9)).toBeUndefined();
  expect(await publishedOf(`${tile}00`, typicalDay(5), 8)).toEqual(about(4_000, 5_000, 6_000));
  expect(await coveredIn(tile, observedDay(friday))).toEqual(["00", "zz"]);
  expect(first.changed).toBeGreaterThan(0);
  expect(await importRows(rows, { precisions })).toEqual({ ...first, changed: 0 });
});

test("an import of densities publishes people of all networks for a market share, and suppresses by those who were counted", async () => {
  const tile = freshTile();
  const rows = [`${tile}00,${friday}T08:00:00Z,9,,`, `${tile}01,${friday}T08:00:00Z,10,,`];

  await importRows([...rows, `${tile}02,${friday}T08:00:00Z,3100,3000,3200`], { marketShare: 0.31 });

  expect(await publishedOf(`${tile}00`, observedDay(friday), 8)).toBe("LOW_DENSITY");
  expect(await publishedOf(`${tile}01`, observedDay(friday), 8)).toMatchObject({ 1: about(10 / 0.31)[0] });
  // 3,000 / 0.31 less, and 3,200 / 0.31 more than 1.96 · √(3,100 · 0.69) / 0.31.
  expect(await publishedOf(`${tile}02`, observedDay(friday), 8)).toEqual(about(9_385, 10_000, 10_615));
});

test("an import of densities stores no day when a later one contradicts what is published", async () => {
  const tile = freshTile();
  const at = (date: string, cell: string, people: number) => `${tile}${cell},${date}T08:00:00Z,${people},,`;
  await importRows([at("2026-11-21", "00", 5_000), at("2026-11-21", "01", 3)]);
  const later = [at(friday, "00", 5_000), at("2026-11-21", "00", 6_000), at("2026-11-21", "02", 70)];
  await expect(importRows(later)).rejects.toThrow("2026-11-21: cell");
  expect(await stored(tile, observedDay(friday))).toBeUndefined();
});

test("an import of densities refuses a row outside the covered area in a pipe, which cannot be read again", async () => {
  const tile = freshTile();
  const coverage = await fourCells(tile, 2);
  const path = join(folder.path, "piped.csv");
  execFileSync("mkfifo", [path]);
  const [refused] = await Promise.allSettled([
    importDensity({ ...observed, files: [path], rows: 1, coverage }),
    writeFile(path, `${header}\n${tile}00,${friday}T08:00:00Z,5000,,`),
  ]);
  expect(refused).toMatchObject({
    reason: { message: `${path}: line 2, geohash: is outside the covered area` },
  });
});

test("npm start --data imports a typical week from CSV and NDJSON with its covered area, and no date", async () => {
  vi.stubEnv("DENSITY_PRECISIONS", "7");
  vi.stubEnv("DENSITY_K", "6000");
  const tile = freshTile();
  const row = { geohash: `${tile}00`, startTime: `${friday}T08:00:00Z`, people: 7_000 };
  const path = await fileOf("density.ndjson", JSON.stringify(row));
  const area = await readFile(await fourCells(tile, 0), "utf8");
  await writeFile(join(path, "../density-coverage.geojson"), area);
  await writeFile(join(path, "../density.csv"), `${header}\n${tile}01,${friday}T08:00:00Z,5000,,\n`);

  await importFolder(join(path, ".."));

  expect(await publishedOf(`${tile}00`, typicalDay(5), 8)).toEqual(about(7_000, 7_000, 7_000));
  expect(await publishedOf(`${tile}01`, typicalDay(5), 8)).toBe("LOW_DENSITY");
  expect(await coveredIn(tile, typicalDay(5))).toEqual(["00", "01", "02", "03"]);
  expect(await stored(tile, observedDay(friday))).toBeUndefined();
});

test("npm start --data imports a typical week of the model for density-model.json, in the time zone of the place", async () => {
  vi.stubEnv("DENSITY_PRECISIONS", isWhole ? "6-7" : "7");
  // Within Lima.
  const path = await fileOf("density-model.json", '{ "bbox": [-77.04, -12.06, -77.03, -12.05] }');

  await importDensityFolder(join(path, ".."));

  for (const weekday of [1, 2, 3, 4, 5, 6, 7]) {
    expect(await coveredIn(tileAt(-12.055, -77.035), typicalDay(weekday))).not.toEqual([]);
  }
  expect(await currentDataSet()).toMatchObject({
    calendar: { timeZone: "America/Lima" },
    provenance: [{ source: expect.stringContaining("nobody was counted"), licence: "CC-BY-4.0" }],
  });
});

test("npm start --data imports the model for the polygons of density-model.json, across the antimeridian too", async () => {
  vi.stubEnv("DENSITY_PRECISIONS", "6");
  const ring = [
    [179.9, -16.85],
    [-179.9, -16.85],
    [-179.9, -16.75],
    [179.9, -16.85],
  ];
  const area = {
    type: "Feature",
    properties: { name: "Taveuni" },
    geometry: { type: "Polygon", coordinates: [ring] },
  };
  const path = await fileOf("density-model.json", JSON.stringify({ area }));

  await importDensityFolder(join(path, ".."));

  const { coverage, calendar } = (await currentDataSet()) ?? {};
  expect(calendar).toMatchObject({ timeZone: "Pacific/Fiji" });
  expect(coverage?.west).toBeCloseTo(179.9, 1);
  expect(coverage?.east).toBeCloseTo(-179.9, 1);
});

test.each([
  ["density-model.json", '{ "bbox": [1, 3, 2, 3] }', "density-model.json: bbox: must have its south before"],
  ["density-model.json", '{ "box": [1, 2, 3, 4] }', "density-model.json: box: "],
  ["density-model.json", "{}", "density-model.json: bbox: "],
  ["density.csv", `${header}\n`, "density.csv: has no rows"],
])("npm start --data refuses a bad %s: %s", async (name, content, message) => {
  await expect(importDensityFolder(join(await fileOf(name, content), ".."))).rejects.toThrow(message);
});

/** A tile to the thousandth of a person. */
function plain({ coverage, hours }: CountedTile) {
  const rounded = (numbers: Float64Array) => numbers.map((number) => Math.round(1_000 * number) / 1_000);
  const counted = hours.map((hour) => hour && [rounded(hour.people), rounded(hour.min), rounded(hour.max)]);
  return { coverage, counted };
}

test("ncs generate density writes the days of its model, which ncs import density imports", async () => {
  const box = { west: -77.04, south: -12.16, east: -77.03, north: -12.15 };
  const outputs = await fileOf(
    "outputs.json",
    JSON.stringify(stackOutputs({ [outputNames.densityPrecisions]: "7" })),
  );
  useShell();
  const out = join(outputs, "../lima.csv");
  const coverage = out.replace(".csv", ".geojson");
  const options = ["--weeks", "1", "--until", "2026-03-02", "--out", out];
  const bbox = Object.values(box).join(",");
  const generated = await runNcs(["generate", "density", "--bbox", bbox, ...options]);
  expect(generated.stdout).toBe(`${out} and ${coverage} written\n`);

  const dates = datesBefore("2026-03-02", 1);
  const expected = new Map<string, unknown>();
  for (const { date, tiles } of modelDays([polygonAround(box)], {
    precision: 7,
    dates,
    model: geoNamesModel,
  })) {
    for await (const tile of tiles) expected.set(`${date} ${tile.geohash}`, plain(tile));
  }
  const problems = new Problems(["lima.csv"]);
  const found = new Map<string, unknown>();
  await withSortedDays(rowsOf([sourceOf(out)], { problems }), { problems }, async (days) => {
    for (const { date, tiles } of days) {
      for await (const tile of tiles) found.set(`${date} ${tile.geohash}`, plain(tile));
    }
  });
  expect([...found.keys()].sort()).toEqual([...expected.keys()].sort());
  // Vitest compares numbers one by one, as objects.
  const others = [...expected].filter(([name, tile]) => !isDeepStrictEqual(found.get(name), tile));
  expect(others.map(([name]) => name)).toEqual([]);

  const args = ["import", "density", out, "--outputs", outputs, "--coverage", coverage];
  const imported = await runNcs([...args, "--market-share", "0.31"]);
  const rows = (await readFile(out, "utf8")).trimEnd().split("\n").length - 1;
  expect(imported.stdout).toMatch(
    new RegExp(`^${rows} rows, [\\d,]+ of [\\d,]+ DynamoDB items changed in \\S+\n$`),
  );
  expect(imported.stderr).toBe("");
  expect(await stored(tileAt(-12.155, -77.035), observedDay("2026-02-23"))).toBeDefined();
});

test.each([
  ["generate", "bbox", "1,2,3", "four numbers of degrees"],
  ["generate", "bbox", "1,2,,4", "four numbers of degrees"],
  ["generate", "bbox", "1,2,1,3", "must have its west before its east"],
  ["generate", "bbox", "-170,2,11,3", "must have its west before its east"],
  ["generate", "bbox", "1,3,2,3", "must have its south before its north"],
  ["generate", "bbox", "1,2,3,91", "must be at most 90"],
  ["generate", "weeks", "0", "a whole number from 1 to 100"],
  ["generate", "weeks", "1.5", "a whole number from 1 to 100"],
  ["generate", "until", "2026-02-30", "a date of the calendar"],
  ["generate", "precision", "13", "a whole number from 2 to 12"],
  ["generate", "out", "x.txt", "end in .csv"],
  ...["0", "1.01", "31", "-0.5", "x"].map((share) => [
    "import",
    "market-share",
    share,
    "above 0 and at most 1",
  ]),
])("ncs %s density --%s %s exits with 1 and says: %s", async (command, name, value, message) => {
  const others = {
    generate: ["--bbox", "1,2,3,4", "--weeks", "1", "--out", "x.csv"],
    import: ["x.csv", "--coverage", "rows", "--outputs", "x.json"],
  };
  const { [command as keyof typeof others]: given } = others;
  const { code, stderr } = await runNcs([`${command}`, "density", ...given, `--${name}`, `${value}`]);
  expect(code).toBe(1);
  expect(stderr).toContain(message);
});
