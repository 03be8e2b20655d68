import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { boxOf } from "../../functions/population-density/cover/box.ts";
import { cellArea } from "../../functions/population-density/cover/cell-area.ts";
import { cellOf, geohashAt, gridOf, suffixesOf } from "../../functions/population-density/cover/geohash.ts";
import { rowsOf } from "../../functions/population-density/import/rows/read-rows.ts";
import { sortedDays } from "../../functions/population-density/import/sort/sorted-days.ts";
import { densityImports } from "../../functions/population-density/import/store/tables.ts";
import type { CountedTile } from "../../functions/population-density/privacy/counted.ts";
import { observedDay, typicalDay } from "../../functions/population-density/tiles/store.ts";
import { densities } from "../../functions/population-density/tiles/table.ts";
import { isCovered, readTileDay } from "../../functions/population-density/tiles/tile.ts";
import { outputNames, tableOutput } from "../../infra/output-names.ts";
import { stackName } from "../../infra/stack-names.ts";
import { ImportError } from "../../shared/import/import-error.ts";
import { Problems } from "../../shared/import/problems.ts";
import { tableVariable } from "../../shared/table.ts";
import { importFolder } from "../../tools/import/data-folder.ts";
import { datesBefore, generateDensity } from "../../tools/import/density/generate-density.ts";
import { geoNamesModel } from "../../tools/import/density/geonames-model.ts";
import { type DensityImport, importDensity } from "../../tools/import/density/import-density.ts";
import { modelDays } from "../../tools/import/density/modelled-days.ts";
import { useOwnDensityTables, useTables } from "../support/database.ts";
import { runNcs } from "../support/ncs.ts";
import { useOwnFolder } from "../support/own-folder.ts";
import { isWhole, runs } from "../support/sample.ts";
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

/** A tile at precision 7 that no other test uses: in the Arctic Ocean. */
function freshTile(): string {
  const random = crypto.getRandomValues(new Uint8Array(4));
  return `b${Array.from(random, (byte) => suffixesOf(1)[byte & 31]).join("")}`;
}

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

/** A GeoJSON file with the cells between the centres of two. */
async function areaBetween(southWest: string, northEast: string): Promise<string> {
  const { cellHeight, cellWidth } = gridOf(7);
  const [from, to] = [cellOf(southWest), cellOf(northEast)];
  const [south, north] = [from.row, to.row].map((row) => (row + 0.5) * cellHeight - 90);
  const [west, east] = [from.column, to.column].map((column) => (column + 0.5) * cellWidth - 180);
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
  return await fileOf("area.geojson", JSON.stringify({ type: "Polygon", coordinates: [ring] }));
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

describe("after an import", () => {
  test("an import of densities publishes what was counted, and changes nothing when it is repeated", async () => {
    const tile = freshTile();
    const rows = [`${tile}00,${friday}T08:00:00Z,5000,4000,6000`, `${tile}zz,${friday}T09:00:00+02:00,3,,`];
    const precisions = [6, 7];

    const first = await importRows(rows, { precisions });

    expect(first).toMatchObject({ rows: 2 });
    expect(await publishedOf(`${tile}00`, observedDay(friday), 8)).toEqual(about(4_000, 5_000, 6_000));
    expect(await publishedOf(`${tile}zz`, observedDay(friday), 8)).toBe("LOW_DENSITY");
    expect(await publishedOf(`${tile}00`, observedDay(friday), 7)).toBe("LOW_DENSITY");
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
});

describe("an import that is refused", () => {
  const tile = freshTile();
  const good = `${tile}00,2026-11-20T08:00:00Z,5000,,`;

  afterEach(async () => {
    expect(await stored(tile, observedDay(friday))).toBeUndefined();
  });

  test("an import of densities stores nothing when the last row of the last file is bad", async () => {
    const files = [
      await fileOf("good.csv", `${header}\n${good}`),
      await fileOf("bad.csv", `${header}\n${tile}00,2026-11-21T08:00:00Z,5000,,\n${tile}01,never,5000,,`),
    ];
    const importing = importDensity({ ...observed, files });
    await expect(importing).rejects.toThrow(ImportError);
    await expect(importing).rejects.toThrow("bad.csv: line 3, startTime: ");
  });

  test("an import of densities refuses a row outside the covered area in a pipe, which cannot be read again", async () => {
    const coverage = await areaBetween(`${tile}03`, `${tile}0z`);
    const path = join(folder.path, "piped.csv");
    execFileSync("mkfifo", [path]);
    const [refused] = await Promise.allSettled([
      importDensity({ ...observed, files: [path], coverage }),
      writeFile(path, `${header}\n${good}`),
    ]);
    expect(refused).toMatchObject({
      reason: { message: `${path}: line 2, geohash: is outside the covered area` },
    });
  });
});

describe("a data folder", () => {
  test("npm start --data imports a typical week from CSV and NDJSON with its covered area, and no date", async () => {
    vi.stubEnv("DENSITY_PRECISIONS", "7");
    vi.stubEnv("DENSITY_K", "6000");
    const tile = freshTile();
    const row = { geohash: `${tile}00`, startTime: `${friday}T08:00:00Z`, people: 7_000 };
    const path = await fileOf("density.ndjson", JSON.stringify(row));
    const area = await readFile(await areaBetween(`${tile}00`, `${tile}03`), "utf8");
    await writeFile(join(path, "../density-coverage.geojson"), area);
    await writeFile(join(path, "../density.csv"), `${header}\n${tile}01,${friday}T08:00:00Z,5000,,\n`);

    await importFolder(join(path, ".."));

    expect(await publishedOf(`${tile}00`, typicalDay(5), 8)).toEqual(about(7_000, 7_000, 7_000));
    expect(await publishedOf(`${tile}01`, typicalDay(5), 8)).toBe("LOW_DENSITY");
    expect(await publishedOf(`${tile}03`, typicalDay(5), 8)).toBe("LOW_DENSITY");
    expect(await coveredIn(tile, typicalDay(5))).toEqual(["00", "01", "02", "03"]);
    expect(await stored(tile, observedDay(friday))).toBeUndefined();
  });

  test("npm start --data imports a typical week of the model for density-model.json", async () => {
    vi.stubEnv("DENSITY_PRECISIONS", isWhole ? "6-7" : "7");
    // Within Lima.
    const path = await fileOf("density-model.json", '{ "bbox": [-77.04, -12.06, -77.03, -12.05] }');

    await importFolder(join(path, ".."));

    for (const weekday of [1, 2, 3, 4, 5, 6, 7]) {
      expect(await coveredIn(tileAt(-12.055, -77.035), typicalDay(weekday))).not.toEqual([]);
    }
  });

  test.each([
    [
      "density-model.json",
      '{ "bbox": [1, 3, 2, 3] }',
      "density-model.json: bbox: must have its south before",
    ],
    ["density-model.json", '{ "box": [1, 2, 3, 4] }', "density-model.json: bbox: "],
    ["density.csv", `${header}\n`, "density.csv: has no rows"],
  ])("npm start --data refuses a bad %s: %s", async (name, content, message) => {
    await expect(importFolder(join(await fileOf(name, content), ".."))).rejects.toThrow(message);
  });
});

describe("what is generated", () => {
  const box = { west: 4.83, south: 45.75, east: 4.85, north: 45.77 };
  const dates = datesBefore("2026-03-02", 1);

  test("ncs generate density writes the days of its model, the same bytes each time", async () => {
    const out = await fileOf("city.csv", "");
    const coverage = out.replace(".csv", ".geojson");
    const some = dates.slice(0, runs(7, 2));
    await generateDensity({ box, dates: some, precision: 6, out });
    const before = [await readFile(out, "utf8"), await readFile(coverage, "utf8")];
    await generateDensity({ box, dates: some, precision: 6, out });
    expect([await readFile(out, "utf8"), await readFile(coverage, "utf8")]).toEqual(before);

    const expected = new Map<string, unknown>();
    for (const { date, tiles } of modelDays(box, { precision: 6, dates: some, model: geoNamesModel })) {
      for await (const tile of tiles) expected.set(`${date} ${tile.geohash}`, plain(tile));
    }
    const problems = new Problems(["city.csv"]);
    for await (const { date, tiles } of sortedDays(rowsOf([out], { problems }), { problems })) {
      for await (const tile of tiles) {
        expect(plain(tile)).toEqual(expected.get(`${date} ${tile.geohash}`));
        expected.delete(`${date} ${tile.geohash}`);
      }
    }
    expect(expected.size).toBe(0);
  });

  /** A tile to the thousandth of a person. */
  function plain({ coverage, hours }: CountedTile) {
    const rounded = (numbers: Float64Array) => numbers.map((number) => Math.round(1_000 * number) / 1_000);
    const counted = hours.map((hour) => hour && [rounded(hour.people), rounded(hour.min), rounded(hour.max)]);
    return { coverage, counted };
  }
});

describe("the command", () => {
  test("ncs generate density writes days that ncs import density imports", async () => {
    const tables = {
      [tableOutput(densities)]: process.env[tableVariable(densities)],
      [tableOutput(densityImports)]: process.env[tableVariable(densityImports)],
      [outputNames.densityK]: "10",
      [outputNames.densityPrecisions]: "7",
    };
    const outputs = await fileOf("outputs.json", JSON.stringify({ [stackName]: tables }));
    const out = join(outputs, "../lima.csv");
    const generated = await runNcs(
      [
        "generate",
        "density",
        "--bbox",
        "-77.04,-12.16,-77.03,-12.15",
        "--weeks",
        "1",
        "--until",
        "2026-03-02",
      ].concat("--out", out),
    );
    expect(generated.stdout).toBe(`${out} and ${out.replace(".csv", ".geojson")} written\n`);

    const arguments_ = ["import", "density", out, "--outputs", outputs, "--market-share", "0.31"];
    const coverage = ["--coverage", out.replace(".csv", ".geojson")];
    const table = process.env[tableVariable(densities)] ?? "";
    vi.stubEnv(tableVariable(densities), "");
    const imported = await runNcs([...arguments_, ...coverage]);

    const rows = (await readFile(out, "utf8")).trimEnd().split("\n").length - 1;
    expect(imported.stdout).toMatch(new RegExp(`^${rows} rows, (\\d+) of (\\d+) items changed in \\S+\n$`));
    expect(imported.stderr).toBe("");
    vi.stubEnv(tableVariable(densities), table);
    expect(await stored(tileAt(-12.155, -77.035), observedDay("2026-02-23"))).toBeDefined();
  }, 60_000);
});

describe("arguments are refused by what they must be", () => {
  const options = { bbox: "1,2,3,4", weeks: "1", out: "x.csv" };

  async function refusalOf(...args: string[]): Promise<string> {
    const { code, stderr } = await runNcs(args);
    expect(code).toBe(1);
    return stderr;
  }

  test.each([
    ["bbox", "1,2,3", "four numbers of degrees"],
    ["bbox", "1,2,,4", "four numbers of degrees"],
    ["bbox", "1,2,1,3", "must have its west before its east"],
    ["bbox", "-170,2,11,3", "must have its west before its east"],
    ["bbox", "1,3,2,3", "must have its south before its north"],
    ["bbox", "1,2,3,91", "must be at most 90"],
    ["weeks", "0", "a whole number from 1 to 100"],
    ["weeks", "1.5", "a whole number from 1 to 100"],
    ["until", "2026-02-30", "a date of the calendar"],
    ["precision", "13", "a whole number from 2 to 12"],
    ["out", "x.txt", "end in .csv"],
  ])("ncs generate density --%s %s exits with 1 and says what it must be", async (name, value, message) => {
    const args = Object.entries({ ...options, [name]: value }).flatMap(([name, value]) => [
      `--${name}`,
      value,
    ]);
    expect(await refusalOf("generate", "density", ...args)).toContain(message);
  });

  test.each(["0", "1.01", "31", "-0.5", "x"])(
    "ncs import density --market-share %s exits with 1 and says what it must be",
    async (share) => {
      const args = ["import", "density", "x.csv", "--coverage", "rows", "--outputs", "x.json"];
      expect(await refusalOf(...args, "--market-share", share)).toContain("above 0 and at most 1");
    },
  );
});
