import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DynamoDBClient, paginateScan } from "@aws-sdk/client-dynamodb";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { suffixesOf } from "../../../../functions/population-density/cover/geohash.ts";
import { excludeDay } from "../../../../functions/population-density/import/publish/exclude-day.ts";
import { readFigures } from "../../../../functions/population-density/import/store/figure-store.ts";
import {
  readDaysOf,
  readJournal,
} from "../../../../functions/population-density/import/store/journal-store.ts";
import { densityImports } from "../../../../functions/population-density/import/store/tables.ts";
import { type FindingCode, findingCodes } from "../../../../functions/population-density/tiles/findings.ts";
import { toldQuality } from "../../../../functions/population-density/tiles/quality.ts";
import { currentQuality } from "../../../../functions/population-density/tiles/quality-store.ts";
import { typicalDay } from "../../../../functions/population-density/tiles/store.ts";
import { densities } from "../../../../functions/population-density/tiles/table.ts";
import { dayMilliseconds } from "../../../../shared/calendar.ts";
import { tableVariable } from "../../../../shared/table.ts";
import { type DensityImport, importDensity } from "../../../../tools/import/density/import-density.ts";
import { useOwnDensityTables, useTables } from "../../../support/database.ts";
import { useOwnFolder } from "../../../support/own-folder.ts";
import { peopleAt } from "../../../support/stored-days.ts";

const folder = useOwnFolder();
beforeAll(() => useTables());
beforeEach(async () => {
  await useOwnDensityTables();
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const fixture = (name: string) => join(import.meta.dirname, "fixtures", `${name}.csv`);
const observed = { typical: false, precisions: [5], threshold: 10 };
const monday = "2026-11-23";
const now = new Date("2026-11-26T12:00:00Z");

async function importFile(file: string, options: Partial<DensityImport> = {}) {
  return await importDensity({ ...observed, files: [file], ...options });
}

async function importRows(rows: readonly string[], options: Partial<DensityImport> = {}) {
  const path = await folder.write(
    `${crypto.randomUUID()}/counted.csv`,
    `geohash,startTime,people\n${rows.join("\n")}\n`,
  );
  return await importFile(path, options);
}

/** Every item of both tables. */
async function items(): Promise<string[]> {
  const client = new DynamoDBClient({});
  const found: string[] = [];
  for (const table of [densities, densityImports]) {
    const TableName = process.env[tableVariable(table)];
    for await (const { Items = [] } of paginateScan({ client }, { TableName })) {
      found.push(...Items.map((item) => JSON.stringify(item, Object.keys(item).sort())));
    }
  }
  client.destroy();
  return found.sort();
}

const codesOf = ({ findings }: Awaited<ReturnType<typeof importFile>>) => findings.map(({ code }) => code);

test("each code has a file that causes it, and one that just does not", async () => {
  await importFile(fixture("weeks"));
  const before = await items();
  const accepted = [...findingCodes];
  for (const code of findingCodes) {
    const name = code.toLowerCase().replaceAll("_", "-");
    const causing = codesOf(await importFile(fixture(name), { accepted, isDryRun: true }));
    const not = codesOf(await importFile(fixture(`${name}-not`), { accepted, isDryRun: true }));
    expect([code, causing.includes(code), not.includes(code)]).toEqual([code, true, false]);
  }
  expect(await items()).toEqual(before);
});

describe("a critical finding", () => {
  test("refuses an import in a sentence with its hours, numbers and weeks, and writes nothing; with --accept, the day is stored and its quality shows the finding", async () => {
    await importFile(fixture("weeks"));
    const before = await items();
    await expect(importFile(fixture("people-unusual"))).rejects.toHaveProperty(
      "message",
      "2026-11-23 PEOPLE_UNUSUAL: 08:00–10:00 UTC: up to 40 % fewer people than on the last three Mondays " +
        "(1,289 at 08:00, usual 1,720–2,580)\n" +
        "nothing was written; if the numbers are right: --accept PEOPLE_UNUSUAL",
    );
    await expect(importFile(fixture("people-unusual"), { accepted: ["TILES_EMPTY"] })).rejects.toThrow(
      "PEOPLE_UNUSUAL",
    );
    expect(await items()).toEqual(before);

    await importFile(fixture("people-unusual"), { accepted: ["PEOPLE_UNUSUAL"] });

    const [latest] = (await currentQuality()).map(toldQuality);
    expect(latest).toMatchObject({ day: monday, hours: 2, people: 1_289, cells: 10, suppressedShare: 0 });
    expect(latest?.findings).toMatchObject([{ code: "PEOPLE_UNUSUAL", level: "critical", hours: [8, 9] }]);
    const last = (await readJournal()).at(-1);
    expect(last?.options).toMatchObject({ accepted: ["PEOPLE_UNUSUAL"] });
    expect((await readDaysOf(last?.number ?? 0)).get(monday)).toMatchObject({
      figures: [{ hour: 8, people: 1_289, cells: 10, suppressed: 0, largest: 228 }, { hour: 9 }],
      findings: [{ code: "PEOPLE_UNUSUAL" }],
    });
  });

  test("of rows that are all equal and below K refuses too, but is not kept: it would disclose them", async () => {
    const equal = (await readFile(fixture("rows-equal"), "utf8")).trim().split("\n").slice(1);
    await importRows(
      ["2026-11-09", "2026-11-16"].flatMap((week) => equal.map((row) => row.replace(monday, week))),
    );
    await expect(importFile(fixture("rows-equal"))).rejects.toThrow("ROWS_EQUAL");
    await importFile(fixture("rows-equal"), { accepted: ["ROWS_EQUAL"] });
    expect((await currentQuality()).map(toldQuality)[0]).toMatchObject({ day: monday, findings: [] });
  });

  test("of rows below K does not make the told warning of another hour critical", async () => {
    const equal = (date: string, hour: string, people: number) =>
      Array.from({ length: 50 }, (_, index) => `u0${cellAt(index)},${date}T${hour}:00:00Z,${people}`);
    const rows = [
      ...["2026-11-09", "2026-11-16"].flatMap((week) => equal(week, "08", 6)),
      ...equal(monday, "08", 7),
      ...equal(monday, "09", 20),
    ];
    const { findings } = await importRows(rows, { accepted: ["ROWS_EQUAL"] });
    const ofMonday = findings.filter(({ date }) => date === monday);
    expect(ofMonday.map(({ level, text }) => [level, text])).toEqual([
      ["warning", "09:00–10:00 UTC: all 50 cells with a number have the same"],
      ["critical", "08:00–09:00 UTC: all rows with people have the same number of people"],
    ]);
    expect((await currentQuality()).map(toldQuality)[0]?.findings).toMatchObject([
      { code: "ROWS_EQUAL", level: "warning", hours: [9] },
    ]);
  });

  test("of few rows is printed without their number", async () => {
    const { findings } = await importFile(fixture("rows-missing"), { isDryRun: true });
    expect(findings).toMatchObject([
      {
        code: "ROWS_MISSING",
        level: "warning",
        text: "10:00–11:00 UTC: fewer than 50 % of the rows that a usual hour of this day has",
      },
    ]);
  });
});

/** The last letters of a cell, by its index in the tiles that begin with `u0`. */
function cellAt(index: number): string {
  return `6${suffixesOf(2)[index]}`;
}

test("a finding in every hour says all day instead of local times", async () => {
  const hours = Array.from({ length: 24 }, (_, hour) => `${monday}T${String(hour).padStart(2, "0")}:00:00Z`);
  const rows = hours.flatMap((time) =>
    Array.from({ length: 50 }, (_, index) => `u0${cellAt(index)},${time},30`),
  );
  const calendar = { timeZone: "Europe/Madrid" };
  const { findings } = await importRows(rows, { calendar, isDryRun: true });
  expect(findings.map(({ text }) => text)).toEqual([
    "all day (UTC): all 50 cells with a number have the same",
  ]);
});

test("a first import of rows that are all equal is published with a warning", async () => {
  const { findings } = await importFile(fixture("rows-equal"));
  expect(findings).toMatchObject([{ date: monday, code: "ROWS_EQUAL", level: "warning" }]);
});

test("one bad week among four changes nothing that is usual", async () => {
  const rows = (date: string, people: number) => [
    `u0400,${date}T08:00:00Z,${people}`,
    `u04zz,${date}T08:00:00Z,${people}`,
  ];
  const weeks = [
    ["2026-10-26", 1_000],
    ["2026-11-02", 40],
    ["2026-11-09", 1_010],
    ["2026-11-16", 990],
  ] as const;
  const all = weeks.flatMap(([date, people]) => rows(date, people));
  await importRows(all, { accepted: [...findingCodes] });
  expect(codesOf(await importRows(rows(monday, 1_005), { isDryRun: true }))).toEqual([]);
  expect(codesOf(await importRows(rows(monday, 1_300), { isDryRun: true }))).toEqual(["PEOPLE_UNUSUAL"]);
});

test("regions that are imported one by one are compared with themselves", async () => {
  const region = (tile: string, date: string, people: number) => [`${tile}00,${date}T08:00:00Z,${people}`];
  const both = (tile: string, people: number) =>
    ["2026-11-09", "2026-11-16"].flatMap((date) => region(tile, date, people));
  await importRows(both("u04", 900));
  await importRows(both("u05", 5_000));
  expect(codesOf(await importRows(region("u04", monday, 910)))).toEqual([]);
  await expect(importRows(region("u05", monday, 900))).rejects.toThrow("82 % fewer people");
});

test("an hour is compared with the same local hour across a clock change, and a holiday with Sundays", async () => {
  // Clocks go back on 25 October 2026: 08:00 in Madrid is 06:00 UTC before and 07:00 UTC afterwards.
  const calendar = { timeZone: "Europe/Madrid", holidays: ["2026-11-02"] };
  const importHours = (people: Readonly<Record<string, number>>) => {
    const rows = Object.entries(people).map(([hour, count]) => `u0400,${hour}:00:00Z,${count}`);
    return importRows(rows, { calendar });
  };
  const mondays = { "2026-10-12T06": 1_000, "2026-10-19T06": 1_000, "2026-10-26T07": 1_050 };
  const sundays = { "2026-10-18T06": 300, "2026-10-25T07": 300 };
  expect(codesOf(await importHours({ ...mondays, ...sundays }))).toEqual([]);
  await expect(importHours({ "2026-11-09T07": 500 })).rejects.toThrow(
    "08:00–09:00 Europe/Madrid: 50 % fewer people than on the last three Mondays",
  );
  expect(codesOf(await importHours({ "2026-11-02T07": 300 }))).toEqual([]);
});

test("what is kept and told of a day does not depend on its suppressed cells", async () => {
  const kept = async (small: readonly number[]) => {
    await useOwnDensityTables();
    const rows = (date: string) => [
      `u0400,${date}T08:00:00Z,700`,
      `u04zz,${date}T08:00:00Z,30`,
      ...small.map((people, index) => `u040${index + 1},${date}T08:00:00Z,${people}`),
    ];
    await importRows(["2026-11-09", "2026-11-16", monday].flatMap(rows));
    return { quality: await currentQuality(), days: await readDaysOf(1), figures: await readFigures(monday) };
  };
  const one = await kept([0, 0, 0, 0]);
  expect(await kept([9, 9, 9, 9])).toEqual(one);
  expect(await kept([1, 0, 8, 3])).toEqual(one);
});

test("the figures of parts that share a tile are those of their own cells", async () => {
  const rows = (cells: Readonly<Record<string, number>>) =>
    Object.entries(cells).map(([cell, people]) => `u04${cell},${monday}T08:00:00Z,${people}`);
  await importRows(rows({ "00": 100, "01": 4 }));
  await importRows(rows({ "00": 110, "01": 5, "02": 40, "03": 20 }));
  const figures = (await readFigures(monday)).map(({ figures }) => ({
    cells: figures.cells[0],
    people: figures.people[8],
    numbers: figures.numbers[8],
    largest: figures.largest[8],
  }));
  expect(figures).toHaveLength(2);
  expect(figures).toEqual(
    expect.arrayContaining([
      { cells: 2, people: 110, numbers: 1, largest: 110 },
      { cells: 2, people: 60, numbers: 2, largest: 40 },
    ]),
  );
});

describe("an excluded day", () => {
  const row = (date: string, count: number) => `u0400,${date}T08:00:00Z,${count}`;
  const people = (date: string, count: number) =>
    importRows([row(date, count)], { accepted: [...findingCodes] });
  const typical = () => peopleAt("u04", typicalDay(1), 8, 0);

  test("leaves typical weekdays, which are made again from the others, and can be taken back", async () => {
    const weeks = [row("2026-11-02", 10_000), row("2026-11-09", 40_000), row("2026-11-16", 12_000)];
    await importRows(weeks, { accepted: [...findingCodes] });
    const whole = await typical();
    expect(await excludeDay("2026-11-09", true, now)).toEqual({ items: 6, changed: 6 });
    const without = await typical();
    await people(monday, 11_200);
    const later = await typical();
    await excludeDay("2026-11-09", false, now);
    expect([whole, without, later, await typical()].map((each) => Math.round(Number(each) / 100))).toEqual([
      207, 110, 111, 183,
    ]);
    expect((await currentQuality()).every(({ isExcluded }) => isExcluded !== true)).toBe(true);
  });

  test("leaves what was imported as typical where nothing else was observed", async () => {
    await importRows(["u0400,2026-01-05T08:00:00Z,5000"], { typical: true });
    await people("2026-11-16", 10_000);
    expect(Math.round(Number(await typical()) / 100)).toBe(100);
    await excludeDay("2026-11-16", true, now);
    expect(Math.round(Number(await typical()) / 100)).toBe(50);
  });

  test("is not what later days are judged by, and an import may exclude its own days", async () => {
    await importFile(fixture("weeks"));
    await excludeDay("2026-11-09", true, now);
    await excludeDay("2026-11-02", true, now);
    expect(codesOf(await importFile(fixture("people-unusual"), { isExcluded: true }))).toEqual([]);
    expect((await currentQuality()).map(({ day, isExcluded = false }) => [day, isExcluded])).toEqual([
      [monday, true],
      ["2026-11-16", false],
      ["2026-11-09", true],
      ["2026-11-02", true],
    ]);
    // Its density is a whole number of people per km².
    expect(Math.abs(Number(await peopleAt("u05", typicalDay(1), 8, 0)) - 404)).toBeLessThan(15);
  });

  test("must have been imported", async () => {
    await expect(excludeDay(monday, true, now)).rejects.toThrow("2026-11-23: was not imported");
  });

  test("may be 100 days old, and no older", async () => {
    await people("2026-11-16", 10_000);
    const daysLater = (days: number) => new Date(Date.parse("2026-11-16T12:00:00Z") + days * dayMilliseconds);
    await expect(excludeDay("2026-11-16", true, daysLater(101))).rejects.toThrow(
      "observed days are kept for 100 days",
    );
    expect(await excludeDay("2026-11-16", true, daysLater(100))).toMatchObject({ items: 6 });
  });
});

test("every code is documented", async () => {
  const documented = await readFile(join(import.meta.dirname, "../../../../docs/judgement.md"), "utf8");
  const missing = findingCodes.filter((code: FindingCode) => !documented.includes(`\`${code}\``));
  expect(missing).toEqual([]);
});
