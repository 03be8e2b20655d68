import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { cellArea } from "../../../../functions/population-density/cover/cell-area.ts";
import {
  cellOf,
  geohashAt,
  gridOf,
  suffixesOf,
} from "../../../../functions/population-density/cover/geohash.ts";
import type { DayStorage } from "../../../../functions/population-density/import/publish/day-division.ts";
import { checkDay, storeDay } from "../../../../functions/population-density/import/publish/store-days.ts";
import { readDayParts, takeDay } from "../../../../functions/population-density/import/store/part-store.ts";
import type { CountedDay, CountedTile } from "../../../../functions/population-density/privacy/counted.ts";
import {
  observedDay,
  readTileDays,
  tileName,
  typicalDay,
  writeTileDay,
} from "../../../../functions/population-density/tiles/store.ts";
import { densities, type StoredTileDay } from "../../../../functions/population-density/tiles/table.ts";
import {
  addToCoverage,
  coverageBytes,
  encodeTileDay,
  isCovered,
  readTileDay,
} from "../../../../functions/population-density/tiles/tile.ts";
import { cellsPerTile } from "../../../../functions/population-density/tiles/tile-hour.ts";
import { ImportError } from "../../../../shared/import/import-error.ts";
import { useOwnTable, useTables } from "../../../support/database.ts";
import { isWhole, runs } from "../../../support/sample.ts";

beforeAll(() => {
  useTables();
});
beforeEach(async () => {
  // Other imports store the same days, whose parts each import reads.
  await useOwnTable(densities);
});
afterAll(() => {
  vi.unstubAllEnvs();
});

/** Also at precision 6, whose cells are sums of cells at precision 7. */
const coarser = { precisions: [7, 6] };
const finest = { precisions: [7] };
const observed: DayStorage = { kind: "observed", ...(isWhole ? coarser : finest), threshold: 10 };
const typical: DayStorage = { ...observed, kind: "typical" };

/** A tile at precision 7 that no other test uses; its first four letters are one at precision 6. */
function freshTile(): string {
  const random = crypto.getRandomValues(new Uint8Array(4));
  return `8${Array.from(random, (byte) => suffixesOf(1)[byte & 31]).join("")}`;
}

/** People by hour, in cells by their index in the tile. */
type Counts = Readonly<Record<number, Readonly<Record<number, number>>>>;

/** A tile of which exactly the cells in some hour are covered. */
function tileOf(geohash: string, counts: Counts): CountedTile {
  const coverage = new Uint8Array(coverageBytes);
  const hours = Array.from({ length: 24 }, (_, index) => {
    const counted = counts[index];
    if (counted === undefined) return undefined;
    const people = new Float64Array(cellsPerTile);
    for (const [cell, count] of Object.entries(counted)) {
      people[Number(cell)] = count;
      addToCoverage(coverage, Number(cell));
    }
    return { people, min: people, max: people };
  });
  return { geohash, coverage, hours };
}

function dayOf(date: string, ...tiles: CountedTile[]): CountedDay {
  const ascending = tiles.toSorted((one, other) => (one.geohash < other.geohash ? -1 : 1));
  const coverage = new Map(ascending.map((tile) => [tile.geohash, tile.coverage]));
  return { date, precision: 7, coverage, tiles: ascending };
}

const signal = () => AbortSignal.timeout(60_000);

async function stored(geohash: string, day: string): Promise<StoredTileDay | undefined> {
  const [item] = await readTileDays([{ tile: tileName(geohash.length + 2, geohash), day }], signal());
  return item;
}

/** All eight items of a tile after a date. */
async function everything(geohash: string, date: string): Promise<(StoredTileDay | undefined)[]> {
  const days = [observedDay(date), ...[1, 2, 3, 4, 5, 6, 7].map(typicalDay)];
  const tile = tileName(geohash.length + 2, geohash);
  const items = await readTileDays(
    days.map((day) => ({ tile, day })),
    signal(),
  );
  return days.map((day) => items.find((item) => item.day === day));
}

/** People of a tile's cells, as well as their densities tell; `undefined` for an hour that is not stored. */
async function peopleOf(geohash: string, day: string) {
  const item = await stored(geohash, day);
  const opened = item && readTileDay(item.hours);
  return (hour: number, cell: number) => {
    const found = opened?.openHour(hour);
    if (found?.kind(cell) !== "DENSITY_ESTIMATION") return found?.kind(cell);
    return Math.round(found.value(cell) * cellArea(geohash + suffixesOf(geohash.length + 2)[cell]));
  };
}

async function peopleAt(geohash: string, day: string, hour: number, cell: number) {
  return (await peopleOf(geohash, day))(hour, cell);
}

function coverageOf(item: StoredTileDay | undefined): number[] {
  const coverage = item === undefined ? new Uint8Array() : readTileDay(item.hours).coverage;
  return Array.from({ length: cellsPerTile }, (_, cell) => cell).filter((cell) => isCovered(coverage, cell));
}

const [monday, friday] = ["2026-11-16", "2026-11-20"];

describe("an observed day", () => {
  test("is stored as such and as its weekday, at every precision that is supported", async () => {
    const tile = freshTile();
    const day = dayOf(friday, tileOf(tile, { 8: { 0: 100, 31: 3, 32: 200 } }));
    const result = await storeDay(day, { ...observed, ...coarser });

    expect(result).toEqual({ items: 16, changed: 16 });
    for (const day of [observedDay(friday), typicalDay(5)]) {
      const people = await peopleOf(tile, day);
      expect(people(8, 0)).toBe(100);
      expect(people(8, 31)).toBe("LOW_DENSITY");
      expect(people(8, 33)).toBe("NO_DATA");
      expect(people(9, 0)).toBeUndefined();
      // 5 people for the suppressed cell, by the area of two of the 32 cells.
      const [letter = ""] = tile.slice(-1);
      const parent = suffixesOf(1).indexOf(letter) * 32;
      const found = await peopleAt(tile.slice(0, -1), day, 8, parent);
      expect(found).toBe(Math.round((105 / 2) * 32));
    }
    expect(await stored(tile, observedDay(friday))).toMatchObject({ madeFrom: [] });
    expect(await stored(tile, typicalDay(5))).toMatchObject({ madeFrom: [friday] });
  });

  test("is kept until 100 days after it ended; typical days are kept", async () => {
    const tile = freshTile();
    await storeDay(dayOf(friday, tileOf(tile, { 8: { 0: 100 } })), observed);
    const [item, ...typicalItems] = await everything(tile, friday);
    expect(item).toHaveProperty("expiresAt", Date.parse("2027-03-01T00:00:00Z") / 1_000);
    expect(typicalItems.filter((typicalItem) => typicalItem === undefined)).toEqual([]);
    for (const { expiresAt } of typicalItems.flatMap((found) => found ?? [])) {
      expect(expiresAt).toBeUndefined();
    }
  });

  test("stored twice changes nothing the second time", async () => {
    const [one = "", other = ""] = [freshTile(), freshTile()].sort();
    const day = dayOf(
      friday,
      tileOf(one, { 0: { 3: 40, 5: 2 }, 23: { 3: 50, 5: 10 } }),
      tileOf(other, { 0: { 1023: 12.5 }, 23: {} }),
    );
    const first = await storeDay(day, { ...observed, ...coarser });
    const before = await Promise.all([everything(one, friday), everything(other, friday)]);

    expect(await storeDay(day, { ...observed, ...coarser })).toEqual({ items: first.items, changed: 0 });
    expect(await Promise.all([everything(one, friday), everything(other, friday)])).toEqual(before);
  });

  test("takes hours that were not counted before, and keeps those that are not counted now", async () => {
    const tile = freshTile();
    await storeDay(dayOf(friday, tileOf(tile, { 8: { 0: 100, 1: 60 }, 9: { 0: 200, 1: 70 } })), observed);
    await storeDay(
      dayOf(friday, tileOf(tile, { 9: { 0: 300, 1: 3, 2: 80 }, 10: { 0: 400, 1: 50, 2: 90 } })),
      observed,
    );

    for (const day of [observedDay(friday), typicalDay(5)]) {
      expect(coverageOf(await stored(tile, day))).toEqual([0, 1, 2]);
      const people = await peopleOf(tile, day);
      expect(people(8, 1)).toBe(60);
      expect(people(8, 2)).toBe("NO_DATA");
      expect(people(9, 0)).toBe(300);
      expect(people(9, 1)).toBe("LOW_DENSITY");
      expect(people(9, 2)).toBe(80);
      expect(people(10, 0)).toBe(400);
    }
  });

  test("counts among the latest four of its weekday, in whatever order they come", async () => {
    const tile = freshTile();
    const fridays = ["2026-10-23", "2026-10-30", "2026-11-06", "2026-11-13", "2026-11-20"] as const;
    const people = {
      [fridays[0]]: 9_000,
      [fridays[1]]: 40,
      [fridays[2]]: 20,
      [fridays[3]]: 60,
      [fridays[4]]: 80,
    };
    for (const date of [fridays[3], fridays[0], fridays[4], fridays[2], fridays[1]]) {
      await storeDay(dayOf(date, tileOf(tile, { 8: { 0: people[date] ?? 0 } })), observed);
    }

    expect((await stored(tile, typicalDay(5)))?.madeFrom).toEqual(fridays.slice(1).toReversed());
    expect(await peopleAt(tile, typicalDay(5), 8, 0)).toBe(50);
    expect(await peopleAt(tile, typicalDay(4), 8, 0)).toBeUndefined();

    const again = await storeDay(dayOf(fridays[0], tileOf(tile, { 8: { 0: 9_000 } })), observed);
    expect(again.changed).toBe(0);
  });

  test("of a weekday whose earlier days are gone still names them", async () => {
    const tile = freshTile();
    const name = tileName(7, tile);
    await writeTileDay(
      { tile: name, day: typicalDay(5), hours: encodeTileDay(Array(24)), madeFrom: ["2026-08-07"] },
      signal(),
    );
    await storeDay(dayOf(friday, tileOf(tile, { 8: { 0: 70 } })), observed);
    expect((await stored(tile, typicalDay(5)))?.madeFrom).toEqual([friday, "2026-08-07"]);
    expect(await peopleAt(tile, typicalDay(5), 8, 0)).toBe(70);
  });

  test("fills no more than 400 KB an item, whatever it holds", async () => {
    const tile = freshTile();
    const people = Float64Array.from(
      { length: cellsPerTile },
      (_, cell) => ((cell * 7_919) % 1_009) ** 2 * cell,
    );
    const hour = {
      people,
      min: people.map((each) => each / 3),
      max: people.map((each) => each * 2.7),
    };
    const full = {
      geohash: tile,
      coverage: new Uint8Array(coverageBytes).fill(0xff),
      hours: Array(24).fill(hour),
    };
    await storeDay(dayOf(friday, full), observed);
    const bytes = (await everything(tile, friday)).map((item) => item?.hours.length ?? Number.NaN);
    for (const each of bytes) expect(each).toBeLessThan(400 * 1_024);
    expect(Math.max(...bytes)).toBeGreaterThan(20_000);
  });
});

describe("a typical day", () => {
  test("replaces the hours that were counted, and what they were made from", async () => {
    // At precision 6 the other weekdays stay as they are: both cells are in the same one.
    const tile = freshTile();
    await storeDay(dayOf(monday, tileOf(tile, { 8: { 0: 100 }, 9: { 0: 200 } })), {
      ...observed,
      ...coarser,
    });
    const day = dayOf(monday, tileOf(tile, { 9: { 0: 300, 1: 30 } }));

    expect(await storeDay(day, { ...typical, ...coarser })).toEqual({ items: 14, changed: 8 });

    expect(await stored(tile, typicalDay(1))).toMatchObject({ madeFrom: [] });
    const people = await peopleOf(tile, typicalDay(1));
    expect(people(8, 0)).toBe(100);
    expect(people(8, 1)).toBe("NO_DATA");
    expect(people(9, 0)).toBe(300);
    expect(await peopleAt(tile, observedDay(monday), 9, 0)).toBe(200);
    expect(await storeDay(day, { ...typical, ...coarser })).toEqual({ items: 14, changed: 0 });
  });

  test("stays for the hours that are never observed", async () => {
    const tile = freshTile();
    await storeDay(dayOf(monday, tileOf(tile, { 8: { 0: 100 }, 9: { 0: 200 } })), typical);
    await storeDay(dayOf(monday, tileOf(tile, { 9: { 0: 300 } })), observed);
    const people = await peopleOf(tile, typicalDay(1));
    expect(people(8, 0)).toBe(100);
    expect(people(9, 0)).toBe(300);
  });
});

describe("what is covered", () => {
  test.each([observed, typical])("does not depend on the weekday: $kind", async (storage) => {
    const tile = freshTile();
    await storeDay(dayOf("2026-11-18", tileOf(tile, { 8: { 0: 100, 7: 20 } })), storage);
    await storeDay(dayOf(friday, tileOf(tile, { 9: { 0: 200, 1023: 50 } })), storage);
    const [, ...week] = await everything(tile, friday);
    expect(week.map(coverageOf)).toEqual(Array(7).fill([0, 7, 1_023]));
    const people = await peopleOf(tile, typicalDay(3));
    expect(people(8, 0)).toBe(100);
    expect(people(8, 7)).toBe(20);
    expect(people(8, 1_023)).toBe("NO_DATA");
    expect(await peopleAt(tile, typicalDay(5), 8, 0)).toBeUndefined();
  });
});

describe("a day that cannot be stored", () => {
  /** Every write of a tile but those that the test lets through is refused. */
  function refuseWrites(lets: (input: unknown) => boolean) {
    const { send } = DynamoDBClient.prototype;
    return vi.spyOn(DynamoDBClient.prototype, "send").mockImplementation(function (
      this: DynamoDBClient,
      ...sent
    ) {
      const isTile = sent[0] instanceof PutItemCommand && /^\d/.test(sent[0].input.Item?.tile?.S ?? "");
      if (isTile && !lets(sent[0].input)) throw new TypeError("refused");
      return Reflect.apply(send, this, sent);
    });
  }

  test("is an error that names tile and day", async () => {
    const tile = freshTile();
    const spied = refuseWrites(() => false);
    try {
      await expect(storeDay(dayOf(friday, tileOf(tile, { 8: { 0: 100 } })), observed)).rejects.toThrow(
        `tile 7/${tile} of 2026-11-20 could not be stored (Unavailable)`,
      );
    } finally {
      spied.mockRestore();
    }
  });

  test("ends as if it had never failed when it is stored once more, whatever had been written", async () => {
    const only: DayStorage = { ...observed, ...finest };
    // All in one row, where cells have the same area.
    const { row, column } = cellOf(freshTile());
    const contents = async (failures: (storing: () => Promise<unknown>) => Promise<void>, index: number) => {
      const tile = geohashAt(row, (column + index) % gridOf(5).columns, 5);
      await storeDay(dayOf("2026-11-13", tileOf(tile, { 8: { 0: 60, 5: 12 }, 11: { 0: 15 } })), only);
      const storing = () =>
        storeDay(dayOf(friday, tileOf(tile, { 8: { 0: 100, 7: 50 }, 9: { 0: 4 } })), only);
      await failures(storing);
      await storing();
      const items = await everything(tile, friday);
      // The ids of parts follow from the place.
      return items.map((item) => ({
        ...item,
        tile: undefined,
        parts: item?.parts.length,
        revision: undefined,
      }));
    };
    const expected = await contents(async () => {}, 0);
    for (let writes = 0; writes < 8; writes += runs(1, 3)) {
      const found = await contents(async (storing) => {
        let left = writes;
        const spied = refuseWrites(() => left-- > 0);
        await expect(storing()).rejects.toThrow("could not be stored");
        spied.mockRestore();
      }, writes + 1);
      expect(found).toEqual(expected);
    }
  });

  test("is an error when what is stored cannot be read", async () => {
    const tile = freshTile();
    const broken = { tile: tileName(7, tile), day: typicalDay(2), hours: new Uint8Array([9]), madeFrom: [] };
    await new DynamoDBClient({}).send(
      new PutItemCommand({ TableName: process.env.TABLE_DENSITIES, Item: marshall(broken) }),
    );
    await expect(storeDay(dayOf(friday, tileOf(tile, { 8: { 0: 100 } })), observed)).rejects.toThrow(
      `tile 7/${tile} of 2026-11-20`,
    );
  });

  test("because of its own tiles ends with their error", async () => {
    const tile = freshTile();
    const tiles = (function* () {
      yield tileOf(tile, { 8: { 0: 100 } });
      throw new RangeError("line 7");
    })();
    await expect(
      storeDay({ ...dayOf(friday, tileOf(tile, { 8: { 0: 1 } })), tiles }, observed),
    ).rejects.toThrow("line 7");
  });
});

describe("parts of a day", () => {
  /**
   * A tile at precision 7 and another one beside it that share a tile of precision 6, and its cells for precision 6.
   */
  function freshPair(): [string, string] {
    const root = freshTile().slice(0, -1);
    return [`${root}0`, `${root}1`];
  }

  /** What is published of a tile, without what differs between two places. */
  async function publishedHours(geohash: string, day: string) {
    const item = await stored(geohash, day);
    return item && Buffer.from(item.hours).toString("base64");
  }

  const first = (tile: string) => tileOf(tile, { 8: { 0: 100, 1: 4, 2: 3 } });
  const second = (tile: string) => tileOf(tile, { 8: { 3: 5, 4: 200, 40: 7 } });
  const both = (tile: string) => tileOf(tile, { 8: { 0: 100, 1: 4, 2: 3, 3: 5, 4: 200, 40: 7 } });

  test.each([observed, typical])(
    "compose in whatever order they come, and again: $kind",
    async ({ kind }) => {
      const storage: DayStorage = { ...observed, ...coarser, kind };
      const { row, column } = cellOf(freshTile());
      const places = [0, 1].map((index) => geohashAt(row, (column + 32 * index) % gridOf(5).columns, 5));
      const day = kind === "observed" ? observedDay(friday) : typicalDay(5);
      const orders = [
        [first, second],
        [second, first, second],
      ];
      const found: unknown[] = [];
      for (const [index, order] of orders.entries()) {
        const tile = places[index] ?? "";
        for (const part of order) await storeDay(dayOf(friday, part(tile)), storage);
        expect((await storeDay(dayOf(friday, first(tile)), storage)).changed).toBe(0);
        expect((await storeDay(dayOf(friday, both(tile)), storage)).changed).toBe(0);
        found.push(await publishedHours(tile, day), await publishedHours(tile.slice(0, -1), day));
        const [letter = ""] = tile.slice(-1);
        const parent = suffixesOf(1).indexOf(letter) * 32;
        // 100 + 10 people, as two cells may have up to 20, and 200 + 5 in five cells; the cell beside is alone.
        const people = await peopleOf(tile.slice(0, -1), day);
        expect(people(8, parent)).toBeCloseTo((315 / 5) * 32, -1.3);
        expect(people(8, parent + 1)).toBe("LOW_DENSITY");
      }
      expect(found.slice(0, 2)).toEqual(found.slice(2));
    },
  );

  test("stay as they are where an import covers only some of their cells and says the same or nothing", async () => {
    const tile = freshTile();
    await storeDay(dayOf(friday, tileOf(tile, { 8: { 0: 100, 1: 4, 2: 3 } })), observed);
    await storeDay(dayOf(friday, tileOf(tile, { 8: { 0: 100, 1: 5, 9: 50 } })), observed);
    await storeDay(dayOf(friday, tileOf(tile, { 8: { 0: 0, 10: 60 } })), observed);
    const people = await peopleOf(tile, observedDay(friday));
    expect(people(8, 0)).toBe(100);
    expect(people(8, 2)).toBe("LOW_DENSITY");
    expect(people(8, 9)).toBe(50);
    expect(people(8, 10)).toBe(60);
  });

  test.each([
    ["another number", { 8: { 0: 101, 9: 50 } }],
    ["a suppressed number", { 8: { 0: 9, 9: 50 } }],
    ["a number for a suppressed cell", { 8: { 1: 10, 9: 50 } }],
    ["an hour that was not published", { 9: { 0: 100, 9: 50 } }],
  ])(
    "are not to be contradicted by an import that covers only some of their cells: %s",
    async (_, counts) => {
      const tile = freshTile();
      await storeDay(dayOf(friday, tileOf(tile, { 8: { 0: 100, 1: 4, 2: 3 } })), observed);
      const before = await everything(tile, friday);
      const day = dayOf(friday, tileOf(tile, counts));
      const message = new RegExp(
        `^2026-11-20: cell ${tile}0[01] in hour [89] was published .* leave the cell out$`,
      );
      await expect(checkDay(day, observed)).rejects.toThrow(ImportError);
      await expect(storeDay(day, observed)).rejects.toThrow(message);
      expect(await everything(tile, friday)).toEqual(before);
    },
  );

  test("are published with one threshold", async () => {
    const tile = freshTile();
    await storeDay(dayOf(friday, first(tile)), observed);
    await expect(storeDay(dayOf(friday, both(tile)), { ...observed, threshold: 20 })).rejects.toThrow(
      "2026-11-20: was published with DENSITY_K 10, not 20",
    );
    await storeDay(dayOf(friday, second(tile)), { ...observed, threshold: 20 });
    expect(await peopleAt(tile, observedDay(friday), 8, 4)).toBe(200);
  });

  test.each([8, 9])("are published from cells of one precision, not %i", async (precision) => {
    const tile = freshTile();
    await storeDay(dayOf(friday, first(tile)), observed);
    const finer = (geohash: string) => {
      const counted = tileOf(geohash, { 8: { 0: 100 } });
      return { ...dayOf(friday, counted), precision };
    };
    const within = `${tile}00`.slice(0, precision - 2);
    await expect(storeDay(finer(within), observed)).rejects.toThrow(
      `2026-11-20: was published from cells of precision 7, not ${precision}`,
    );
    const beside = `${tile}${precision === 8 ? "z" : "0z"}`;
    await storeDay(finer(beside), observed);
    expect(await peopleAt(tile, observedDay(friday), 8, 0)).toBe(100);
  });

  test("are known however old the day is: a cell more discloses nothing of its count", async () => {
    const tile = freshTile();
    const [letter = ""] = tile.slice(-1);
    const parent = suffixesOf(1).indexOf(letter) * 32;
    const typicalPeople = () => peopleAt(tile.slice(0, -1), typicalDay(5), 8, parent);
    const beside = { 0: 40, 1: 9, 2: 9, 3: 9 };
    const storage: DayStorage = { ...observed, ...coarser };
    await storeDay(dayOf(friday, tileOf(tile, { 8: beside })), storage);
    expect(await typicalPeople()).toBeCloseTo((60 / 4) * 32, -1);
    vi.useFakeTimers({ now: Date.now() + 400 * 86_400_000, toFake: ["Date"] });
    try {
      await storeDay(dayOf(friday, tileOf(tile, { 8: { ...beside, 4: 9 } })), storage);
    } finally {
      vi.useRealTimers();
    }
    // Of the new cell nothing but that it is suppressed: 5 people.
    expect((await stored(tile, observedDay(friday)))?.parts).toHaveLength(2);
    expect(await typicalPeople()).toBeCloseTo((65 / 5) * 32, -1);
  });

  test("are forgotten when typical days are counted anew", async () => {
    const tile = freshTile();
    await storeDay(dayOf(friday, first(tile)), typical);
    const [threshold, counts] = [20, { 8: { 0: 15, 4: 300 } }];
    const anew = dayOf(friday, tileOf(tile, counts));
    await expect(storeDay(anew, { ...typical, threshold })).rejects.toThrow(ImportError);
    await storeDay(anew, { ...typical, threshold, isRecounted: true });
    const people = await peopleOf(tile, typicalDay(5));
    expect(people(8, 0)).toBe("LOW_DENSITY");
    expect(people(8, 4)).toBe(300);
    expect((await storeDay(anew, { ...typical, threshold })).changed).toBe(0);
  });

  test("of a typical day are there when another part comes after observed days", async () => {
    const tile = freshTile();
    const [letter = ""] = tile.slice(-1);
    const parent = suffixesOf(1).indexOf(letter) * 32;
    await storeDay(dayOf(friday, first(tile)), { ...typical, ...coarser });
    await storeDay(dayOf(friday, tileOf(tile, { 8: { 0: 500, 1: 4, 2: 3 } })), { ...observed, ...coarser });
    expect(await peopleAt(tile.slice(0, -1), typicalDay(5), 8, parent)).toBeCloseTo((510 / 3) * 32, -1);
    await storeDay(dayOf(friday, second(tile)), { ...typical, ...coarser });
    const people = await peopleOf(tile, typicalDay(5));
    expect(people(8, 0)).toBe(500);
    expect(people(8, 4)).toBe(200);
    expect(await peopleAt(tile.slice(0, -1), typicalDay(5), 8, parent)).toBeCloseTo((315 / 5) * 32, -1.3);
  });

  test("are stored by one import after the other", async () => {
    const [one, other] = freshPair();
    const storage: DayStorage = { ...observed, ...coarser };
    await Promise.all([
      storeDay(dayOf(friday, first(one)), storage),
      storeDay(dayOf(friday, first(other)), storage),
      storeDay(dayOf(friday, second(one)), storage),
    ]);
    for (const tile of [one, other]) expect(await peopleAt(tile, observedDay(friday), 8, 0)).toBe(100);
    expect(await peopleAt(one, observedDay(friday), 8, 4)).toBe(200);
    const root = one.slice(0, -1);
    const people = await peopleOf(root, observedDay(friday));
    expect(people(8, 0)).toBeCloseTo((315 / 5) * 32, -1.3);
    expect(people(8, 32)).toBeCloseTo((110 / 3) * 32, -1);
  });

  test("wait for an import that was cut short until its time is over", async () => {
    const [tile, date] = [freshTile(), "2026-09-18"];
    const key = observedDay(date);
    const until = Date.now() + 1_500;
    expect(await takeDay(key, "killed", until, await readDayParts(key))).toBe(true);
    await storeDay(dayOf(date, first(tile)), observed);
    expect(Date.now()).toBeGreaterThanOrEqual(until);
    expect(await peopleAt(tile, key, 8, 0)).toBe(100);
    expect(await readDayParts(key)).not.toHaveProperty("writer");
  });

  test("of many dates are stored at a time, and make one weekday", async () => {
    const tile = freshTile();
    const fridays = ["2026-10-30", "2026-11-06", "2026-11-13", "2026-11-20"].slice(-runs(4, 3));
    await Promise.all(fridays.map((date) => storeDay(dayOf(date, first(tile)), observed)));
    expect((await stored(tile, typicalDay(5)))?.madeFrom).toEqual(fridays.toReversed());
  });

  test("cost an item of their own only where there are several", async () => {
    const [one, other] = freshPair();
    await storeDay(dayOf(friday, first(one)), observed);
    await storeDay(dayOf(friday, first(other)), observed);
    await storeDay(dayOf(friday, second(other)), observed);
    const [ofOne, ofOther] = await Promise.all([one, other].map((tile) => stored(tile, observedDay(friday))));
    expect(ofOne).toMatchObject({ separate: false });
    expect(ofOther).toMatchObject({ separate: true });
    expect(ofOne?.parts).toHaveLength(1);
    expect(ofOther?.parts).toHaveLength(2);
  });
});

test("many tiles at a time are all stored", async () => {
  const root = freshTile().slice(0, -1);
  // More than are stored at a time.
  const letters = suffixesOf(1).slice(0, runs(32, 12));
  const tiles = letters.map((letter) => tileOf(root + letter, { 8: { 0: 100 } }));
  const items = (tiles.length + 1) * 8;
  expect(await storeDay(dayOf(friday, ...tiles), { ...observed, ...coarser })).toEqual({
    items,
    changed: items,
  });
  for (const { geohash } of tiles) expect(await peopleAt(geohash, observedDay(friday), 8, 0)).toBe(100);
});
