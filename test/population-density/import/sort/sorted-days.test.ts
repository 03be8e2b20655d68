import { readdir } from "node:fs/promises";
import fc from "fast-check";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { type RowBatch, RowWriter } from "../../../../functions/population-density/import/rows/row-batch.ts";
import type { SortOptions } from "../../../../functions/population-density/import/sort/day-sort.ts";
import { withSortedDays } from "../../../../functions/population-density/import/sort/sorted-days.ts";
import type { CountedDay } from "../../../../functions/population-density/privacy/counted.ts";
import { coverageOf as coverageOfCells } from "../../../../functions/population-density/privacy/parts.ts";
import { isCovered } from "../../../../functions/population-density/tiles/tile.ts";
import { cellsPerTile } from "../../../../functions/population-density/tiles/tile-hour.ts";
import { dayOf, hourMilliseconds } from "../../../../shared/calendar.ts";
import { ImportError } from "../../../../shared/import/import-error.ts";
import { Problems } from "../../../../shared/import/problems.ts";
import { useOwnFolder } from "../../../support/own-folder.ts";
import type { Row } from "../../../support/rows.ts";
import { runs } from "../../../support/sample.ts";

const folder = useOwnFolder();
beforeAll(() => void vi.stubEnv("TMPDIR", folder.path));

afterEach(async () => {
  expect(await readdir(folder.path), "temporary files are left").toEqual([]);
});

const firstHour = Date.UTC(2026, 10, 20) / 3_600_000;

type Counted = Pick<Row, "tile" | "cell" | "hour" | "people">;

/** Rows as a file has them, one a line. */
function rowsWith(counted: readonly Counted[]): Row[] {
  return counted.map((row, index) => {
    const { hour, people } = row;
    return { ...row, hour: firstHour + hour, min: people, max: people, file: 0, line: index + 2 };
  });
}

/** The rows in batches of a few, each batch of one file. */
async function* streamed(rows: readonly Row[]): AsyncGenerator<RowBatch> {
  for (let from = 0; from < rows.length; ) {
    const file = rows[from]?.file ?? 0;
    const others = rows.findIndex((row, index) => index > from && row.file !== file);
    const to = Math.min(from + rowsEach, others < 0 ? rows.length : others);
    const writer = new RowWriter();
    writer.begin(rowsEach);
    for (const { tile, cell, hour, line, people, min, max } of rows.slice(from, to)) {
      writer.add(writer.tilePosition(tile), cell, hour, line - 1, people, min, max);
    }
    yield { rows: writer.packed(), from: 0, to: to - from, file, firstLine: 1 };
    from = to;
  }
}

const rowsEach = 7;

/** An hour by its cells with people; a tile by its covered cells and its counted hours. */
interface PlainDay {
  readonly date: string;
  readonly precision: number;
  readonly tiles: readonly {
    readonly geohash: string;
    readonly covered: readonly number[];
    readonly hours: ReadonlyMap<number, ReadonlyMap<number, readonly number[]>>;
  }[];
}

const everyCell = Array.from({ length: cellsPerTile }, (_, cell) => cell);

async function daysOf(rows: readonly Row[], options: Partial<SortOptions> = {}): Promise<PlainDay[]> {
  const problems = new Problems(["rows.csv", "more.ndjson"]);
  const used = { problems, ...options };
  return await withSortedDays(streamed(rows), used, (days) => plainDays(days));
}

async function plainDays(sorted: readonly CountedDay[]): Promise<PlainDay[]> {
  const days: PlainDay[] = [];
  for (const { date, precision, tiles } of sorted) {
    const plain: PlainDay["tiles"][number][] = [];
    for await (const { geohash, coverage, hours } of tiles) {
      expect(hours).toHaveLength(24);
      const counted = [...hours.entries()].flatMap(([hour, counted]) => {
        if (counted === undefined) return [];
        const { people, min, max } = counted;
        const cells = everyCell
          .map((cell) => [cell, [people[cell] ?? -1, min[cell] ?? -1, max[cell] ?? -1]] as const)
          .filter(([, numbers]) => numbers.some((number) => number !== 0));
        return [[hour, new Map(cells)] as const];
      });
      const covered = everyCell.filter((cell) => isCovered(coverage, cell));
      plain.push({ geohash, covered, hours: new Map(counted) });
    }
    days.push({ date, precision, tiles: plain });
  }
  return days;
}

/** The same in memory: rows grouped by day, then by tile, then by hour. */
function grouped(rows: readonly Row[], covered = coveredBy(rows)): PlainDay[] {
  const dayIn = ({ hour }: Row) => dayOf(new Date(hour * 3_600_000));
  const dates = [...new Set(rows.map(dayIn))].sort();
  return dates.map((date) => {
    const ofDay = rows.filter((row) => dayIn(row) === date);
    const hours = [...new Set(ofDay.map(({ hour }) => hour % 24))].sort((one, other) => one - other);
    const tiles = [...covered].sort().map(([geohash, cells]) => {
      const ofTile = ofDay.filter(({ tile, people, max }) => tile === geohash && people + max > 0);
      const counted = hours.map((hour) => {
        const ofHour = ofTile.filter((row) => row.hour % 24 === hour);
        const numbers = ofHour.map(({ cell, people, min, max }) => [cell, [people, min, max]] as const);
        return [hour, new Map(numbers)] as const;
      });
      return { geohash, covered: [...cells].sort((one, other) => one - other), hours: new Map(counted) };
    });
    return { date, precision: (rows[0]?.tile.length ?? 0) + 2, tiles };
  });
}

function coveredBy(rows: readonly Row[]): Map<string, Set<number>> {
  const covered = new Map<string, Set<number>>();
  for (const { tile, cell } of rows) covered.set(tile, (covered.get(tile) ?? new Set()).add(cell));
  return covered;
}

const coverageOf = (covered: ReadonlyMap<string, Iterable<number>>) =>
  new Map([...covered].map(([tile, cells]) => [tile, coverageOfCells([...cells])]));

/** Tiles that lie in the same partition and in others, at each precision from the coarsest on. */
const tilesByPrecision = [
  [""],
  ["0", "u", "z"],
  ["u0", "u1", "uz", "00"],
  ["u05kq", "u05kr", "u05ks", "u05m0", "zzzzz", "00000"],
  ["u05kqxyu05", "u05kqxyu06", "u05kqxyzzz"],
];

const counted = fc.constantFrom(...tilesByPrecision).chain((tiles) =>
  fc.uniqueArray(
    fc.record({
      tile: fc.constantFrom(...tiles),
      cell: fc.oneof(fc.constantFrom(0, 31, 32, 1_023), fc.integer({ min: 0, max: 1_023 })),
      // Three days, each hour of which has other chances to be named.
      hour: fc.integer({ min: 0, max: 71 }).map((hour) => hour - (hour % 24 > 20 ? 17 : 0)),
      people: fc.oneof(
        fc.constant(0),
        fc.double({ min: 0, max: 1e9, noNaN: true }).map((people) => people + 0),
      ),
    }),
    { selector: ({ tile, cell, hour }) => `${tile}/${cell}/${hour}`, minLength: 1, maxLength: 60 },
  ),
);

describe("days are those of the rows, each with every covered tile", () => {
  test("rows in any order give the same days, however often they are written to disk", async () => {
    await fc.assert(
      fc.asyncProperty(counted, fc.integer({ min: 1, max: 70 }), async (counted, buffered) => {
        // As generated they have no order.
        const rows = rowsWith(counted);
        expect(await daysOf(rows, { buffered })).toEqual(grouped(rows));
      }),
      { numRuns: runs(150, 50) },
    );
  });

  test("rows give days of exactly the coverage that is given", async () => {
    await fc.assert(
      fc.asyncProperty(counted, async (counted) => {
        const rows = rowsWith(counted);
        const covered = coveredBy(rows);
        const [tile = ""] = covered.keys();
        covered.get(tile)?.add(500);
        if (tile !== "") covered.set("b".repeat(tile.length), new Set([7]));
        const coverageAt = (precision: number) => {
          expect(precision).toBe(tile.length + 2);
          return coverageOf(covered);
        };
        expect(await daysOf(rows, { coverageAt, buffered: 7 })).toEqual(grouped(rows, covered));
      }),
      { numRuns: runs(50, 20) },
    );
  });
});

describe("before any day is given, an import is refused", () => {
  const at = (tile: string, cell: number, hour: number) => ({ tile, cell, hour, people: 1 });

  test("a second row of a cell and hour is refused by its file and line", async () => {
    const first = rowsWith([at("u05kq", 3, 0), at("u05kq", 3, 1), at("u05kq", 3, 25), at("u05kr", 3, 0)]);
    const [again, other] = rowsWith([at("u05kq", 3, 1), at("u05kq", 4, 1)]).map((row) => ({
      ...row,
      file: 1,
    }));
    if (again === undefined || other === undefined) throw new Error("no rows");
    for (const buffered of [1, 2, 100]) {
      const refused = daysOf([...first, other, again], { buffered });
      await expect(refused).rejects.toThrow(ImportError);
      await expect(refused).rejects.toThrow(
        /^more\.ndjson: line 2, startTime: the same cell and hour as a row before$/,
      );
    }
  });

  test("rows of uncovered cells are refused by their number and the first line", async () => {
    const rows = rowsWith([at("u05kq", 3, 0), at("u05kq", 4, 0), at("u05kr", 3, 0)]);
    const coverageAt = () => coverageOf(new Map([["u05kq", [3]]]));
    await expect(daysOf(rows, { coverageAt })).rejects.toThrow(
      "rows.csv: 2 rows: geohash: is outside the covered area, first in line 3",
    );
  });

  test("typical rows with two dates of one weekday are refused", async () => {
    const week = 7 * 24;
    const rows = rowsWith([at("u05kq", 3, 0), at("u05kq", 3, 24), at("u05kq", 3, 2 * week)]);
    expect(await daysOf(rows)).toHaveLength(3);
    await expect(daysOf(rows, { isTypical: true })).rejects.toThrow(
      "rows.csv: line 4, startTime: is an hour of a weekday that another date has too",
    );
  });

  test("a row of an hour that has not ended is refused", async () => {
    const rows = rowsWith([at("u05kq", 3, 0), at("u05kq", 3, 1)]);
    const over = (firstHour + 2) * hourMilliseconds;
    expect(await daysOf(rows, { now: over })).toHaveLength(1);
    await expect(daysOf(rows, { now: over - 1 })).rejects.toThrow(
      "rows.csv: line 3, startTime: is an hour that has not ended, so nobody can have been counted",
    );
  });

  test("a typical week of another time zone is accepted, in which a weekday has two dates", async () => {
    const rows = rowsWith(Array.from({ length: 7 * 24 }, (_, hour) => at("u05kq", 3, hour - 5)));
    expect(await daysOf(rows, { isTypical: true })).toHaveLength(8);
  });

  test("rows that cannot be read end the import with their error", async () => {
    async function* failing(): AsyncGenerator<RowBatch> {
      yield* streamed(rowsWith([at("u05kq", 3, 0)]));
      throw new Error("no more rows");
    }
    const days = withSortedDays(failing(), { problems: new Problems(["rows.csv"]) }, async () => undefined);
    await expect(days).rejects.toThrow("no more rows");
  });
});

test("every day can be read again after all were read", async () => {
  const rows = rowsWith([0, 24].map((hour) => ({ tile: "u05kq", cell: 3, hour, people: 1 })));
  const seen: string[] = [];
  const read = async ({ date, coverage, tiles }: CountedDay) => {
    for await (const { geohash, hours } of tiles) {
      seen.push(
        `${date} ${geohash} ${hours[0]?.people[3]} ${isCovered(coverage.get(geohash) ?? new Uint8Array(), 3)}`,
      );
    }
  };
  const problems = new Problems([]);
  await withSortedDays(streamed(rows), { problems }, async (days) => {
    for (const day of [...days, ...days]) await read(day);
  });
  const each = ["2026-11-20 u05kq 1 true", "2026-11-21 u05kq 1 true"];
  expect(seen).toEqual([...each, ...each]);
});

test("an import that stops early leaves nothing on disk", async () => {
  const rows = rowsWith([0, 24, 48].map((hour) => ({ tile: "u05kq", cell: 3, hour, people: 1 })));
  const options = { problems: new Problems([]), buffered: 1 };
  const stopped = withSortedDays(streamed(rows), options, async (days) => {
    expect(await readdir(folder.path)).toHaveLength(1);
    for await (const tile of days[0]?.tiles ?? []) throw new Error(`stopped at ${tile.geohash}`);
  });
  await expect(stopped).rejects.toThrow("stopped at u05kq");
});
