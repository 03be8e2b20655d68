import { expect, test } from "vitest";
import { excludeDay } from "../../../functions/population-density/import/publish/exclude-day.ts";
import { readDaysOf } from "../../../functions/population-density/import/store/journal-store.ts";
import { findingCodes } from "../../../functions/population-density/tiles/findings.ts";
import { typicalDay } from "../../../functions/population-density/tiles/store.ts";
import {
  aroundTheCorner,
  cellsOf,
  header,
  importDistributed,
  importOnOneMachine,
  inTables,
  itemsOf,
  northOf,
  row,
  split,
  tables,
  useImports,
  type Wanted,
} from "../../support/distributed-import.ts";
import { isWhole } from "../../support/sample.ts";
import { peopleAt } from "../../support/stored-days.ts";

useImports([3, 6]);

const box = northOf(aroundTheCorner);
const monday = "2026-11-16";

/** Rows of all cells in four hours of a Monday. */
function goodDay(date: string, cells: readonly string[]): string[] {
  return ["08", "09", "10", "11"].flatMap((hour) =>
    cells.map((cell, index) => row(cell, `${date}T${hour}:00:00Z`, 30 + (index % 40))),
  );
}

/** A Monday with everything that the judgement knows. */
function faultyDay(cells: readonly string[]): string[] {
  const [first = ""] = cells;
  const at = (hour: string, people: (cell: string, index: number) => number | undefined) =>
    cells.flatMap((cell, index) => {
      const counted = people(cell, index);
      return counted === undefined ? [] : [row(cell, `${monday}T${hour}:00:00Z`, counted)];
    });
  return [
    // The tiles around the first cell are silent; the hour after it is not there at all.
    ...at("08", (cell, index) => (cell.startsWith(first.slice(0, 3)) ? undefined : 30 + (index % 40))),
    ...at("10", (_, index) => (index % 5 === 0 ? 30 + (index % 40) : undefined)),
    ...at("11", () => 5_000),
  ];
}

test("the distributed import refuses, accepts and keeps the findings of an import on one machine, byte for byte", async () => {
  const cells = await cellsOf(box);
  const weeks = ["2026-11-02", "2026-11-09"].map((date) => goodDay(date, cells));
  const imported = isWhole ? weeks : [weeks.flat()];
  for (const rows of imported) {
    await importOnOneMachine({ "counted.csv": header + rows.join("\n") }, { box });
    await importDistributed(split(rows, 2, 1), { box });
  }
  const before = await itemsOf(tables.distributed);
  const rows = faultyDay(cells);
  const files = { "counted.csv": header + rows.join("\n") };

  const refusal = await importOnOneMachine(files, { box }).catch((error: Error) => error.message);
  expect(await importDistributed(split(rows, 3, 2), { box }, 2)).toEqual({
    status: "FAILED",
    error: "ImportError",
    cause: refusal,
  });
  expect(refusal).toMatch(/nothing was written; if the numbers are right: --accept /);
  expect(await itemsOf(tables.distributed)).toEqual(before);

  const accepting: Wanted = { box, accepted: findingCodes };
  const one = await importOnOneMachine(files, accepting);
  expect(await importDistributed(split(rows, 3, 3), accepting, 3)).toEqual({
    status: "SUCCEEDED",
    output: one,
  });
  expect([...new Set(one.findings.map(({ code }) => code))]).toEqual(findingCodes);
  expect(await itemsOf(tables.distributed)).toEqual(await itemsOf(tables.one));
  const number = imported.length + 1;
  const ofDay = async (of: typeof tables.one) => (await inTables(of, () => readDaysOf(number))).get(monday);
  const kept = await ofDay(tables.distributed);
  expect(kept).toEqual(await ofDay(tables.one));
  expect(kept?.findings.map(({ code }) => code)).not.toContain("ROWS_MISSING");
});

test("a holiday that a distributed import excludes leaves the typical Sunday as on one machine, and can be taken back", async () => {
  const calendar = { timeZone: "Europe/Madrid", holidays: ["2026-11-09"] };
  const [tile, holiday] = ["u04z", "2026-11-09"];
  const importOn = async (dates: readonly string[], people: number, isExcluded = false) => {
    const rows = dates.map((date) => row(`${tile}00`, `${date}T08:00:00Z`, people));
    const files = { "a.csv": header + rows.join("\n") };
    const wanted = { calendar, isExcluded, accepted: findingCodes };
    const one = await importOnOneMachine(files, wanted);
    expect(await importDistributed(files, wanted)).toEqual({ status: "SUCCEEDED", output: one });
    expect(await itemsOf(tables.distributed)).toEqual(await itemsOf(tables.one));
  };
  const typicalSunday = async () =>
    await inTables(tables.distributed, async () => {
      const people = await peopleAt(tile, typicalDay(7), 8, 0);
      return Math.round(Number(people) / 100);
    });
  const exclude = async (isExcluded: boolean) => {
    for (const of of [tables.one, tables.distributed])
      await inTables(of, () => excludeDay(holiday, isExcluded, new Date("2026-11-26")));
    expect(await itemsOf(tables.distributed)).toEqual(await itemsOf(tables.one));
  };

  await importOn(["2026-11-01", "2026-11-08"], 10_000);
  await importOn([holiday], 100_000, true);
  const without = await typicalSunday();
  await exclude(false);
  const withHoliday = await typicalSunday();
  await exclude(true);

  expect([without, withHoliday, await typicalSunday()]).toEqual([100, 400, 100]);
});
