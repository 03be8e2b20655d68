import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { cellOf, geohashAt, gridOf } from "../../../../functions/population-density/cover/geohash.ts";
import type { DayStorage } from "../../../../functions/population-density/import/publish/day-storage.ts";
import { checkDay, storeDay } from "../../../../functions/population-density/import/publish/store-days.ts";
import { readDayParts, takeDay } from "../../../../functions/population-density/import/store/part-store.ts";
import { observedDay, typicalDay } from "../../../../functions/population-density/tiles/store.ts";
import { ImportError } from "../../../../shared/import/import-error.ts";
import {
  beforeFriday,
  coarser,
  dayOf,
  everything,
  firstParentOf,
  freshTile,
  friday,
  observed,
  peopleAt,
  peopleOf,
  stored,
  tileOf,
  typical,
  useOwnDensities,
} from "../../../support/stored-days.ts";

useOwnDensities();

describe("parts of a day", () => {
  /**
   * A tile at precision 7 and another one next to it that share a tile of precision 6, and its cells for precision 6.
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
    "parts of a day give the same densities in any order: $kind",
    async ({ kind }) => {
      const storage: DayStorage = { ...observed, ...coarser, kind };
      const { row, column } = cellOf(freshTile());
      const places = [0, 1].map((index) => geohashAt(row, (column + 32 * index) % gridOf(5).columns, 5));
      const day = kind === "observed" ? observedDay(friday) : typicalDay(5);
      const orders = [
        [first, second],
        [second, first],
      ];
      const found: unknown[] = [];
      for (const [index, order] of orders.entries()) {
        const tile = places[index] ?? "";
        for (const part of order) await storeDay(dayOf(friday, part(tile)), storage);
        expect((await storeDay(dayOf(friday, first(tile)), storage)).changed).toBe(0);
        expect((await storeDay(dayOf(friday, both(tile)), storage)).changed).toBe(0);
        found.push(await publishedHours(tile, day), await publishedHours(tile.slice(0, -1), day));
        const parent = firstParentOf(tile);
        // 100 + 10 people, as two cells may have up to 20, and 200 + 5 in five cells; the next cell is alone.
        const people = await peopleOf(tile.slice(0, -1), day);
        expect(people(8, parent)).toBeCloseTo((315 / 5) * 32, -1.3);
        expect(people(8, parent + 1)).toBe("LOW_DENSITY");
      }
      expect(found.slice(0, 2)).toEqual(found.slice(2));
    },
  );

  test.each([
    ["another number", { 8: { 0: 101, 9: 50 } }],
    ["a suppressed number", { 8: { 0: 9, 9: 50 } }],
    ["a number for a suppressed cell", { 8: { 1: 10, 9: 50 } }],
    ["an hour that was not published", { 9: { 0: 100, 9: 50 } }],
  ])("an import of some cells of a part is refused when it contradicts the part: %s", async (_, counts) => {
    const tile = freshTile();
    await storeDay(dayOf(friday, tileOf(tile, { 8: { 0: 100, 1: 4, 2: 3 } })), observed);
    const before = await everything(tile, friday);
    const day = dayOf(friday, tileOf(tile, counts));
    const message = new RegExp(
      `^${friday}: cell ${tile}0[01] in hour [89] was published .* leave the cell out$`,
    );
    await expect(checkDay(day, observed)).rejects.toThrow(ImportError);
    await expect(storeDay(day, observed)).rejects.toThrow(message);
    expect(await everything(tile, friday)).toEqual(before);
  });

  test("a part published with K of 10 is refused with 20", async () => {
    const tile = freshTile();
    await storeDay(dayOf(friday, first(tile)), observed);
    await expect(storeDay(dayOf(friday, both(tile)), { ...observed, threshold: 20 })).rejects.toThrow(
      `${friday}: was published with DENSITY_K 10, not 20`,
    );
    await storeDay(dayOf(friday, second(tile)), { ...observed, threshold: 20 });
    expect(await peopleAt(tile, observedDay(friday), 8, 4)).toBe(200);
  });

  test.each([8, 9])("a part of cells of precision 7 is refused at precision %i", async (precision) => {
    const tile = freshTile();
    await storeDay(dayOf(friday, first(tile)), observed);
    const finer = (geohash: string) => {
      const counted = tileOf(geohash, { 8: { 0: 100 } });
      return { ...dayOf(friday, counted), precision };
    };
    const within = `${tile}00`.slice(0, precision - 2);
    await expect(storeDay(finer(within), observed)).rejects.toThrow(
      `${friday}: was published from cells of precision 7, not ${precision}`,
    );
    const nextTo = `${tile}${precision === 8 ? "z" : "0z"}`;
    await storeDay(finer(nextTo), observed);
    expect(await peopleAt(tile, observedDay(friday), 8, 0)).toBe(100);
  });

  test("one cell more in a day that expired 400 days ago does not disclose its count", async () => {
    const tile = freshTile();
    const parent = firstParentOf(tile);
    const typicalPeople = () => peopleAt(tile.slice(0, -1), typicalDay(5), 8, parent);
    const nextTo = { 0: 40, 1: 9, 2: 9, 3: 9 };
    const storage: DayStorage = { ...observed, ...coarser };
    await storeDay(dayOf(friday, tileOf(tile, { 8: nextTo })), storage);
    expect(await typicalPeople()).toBeCloseTo((60 / 4) * 32, -1);
    vi.useFakeTimers({ now: Date.now() + 400 * 86_400_000, toFake: ["Date"] });
    try {
      await storeDay(dayOf(friday, tileOf(tile, { 8: { ...nextTo, 4: 9 } })), storage);
    } finally {
      vi.useRealTimers();
    }
    // The new cell shows only that it is suppressed: 5 people.
    expect((await stored(tile, observedDay(friday)))?.parts).toHaveLength(2);
    expect(await typicalPeople()).toBeCloseTo((65 / 5) * 32, -1);
  });

  test("a typical day that is counted again forgets its parts", async () => {
    const tile = freshTile();
    await storeDay(dayOf(friday, first(tile)), typical);
    const [threshold, counts] = [20, { 8: { 0: 15, 4: 300 } }];
    const recounted = dayOf(friday, tileOf(tile, counts));
    await expect(storeDay(recounted, { ...typical, threshold })).rejects.toThrow(ImportError);
    await storeDay(recounted, { ...typical, threshold, isRecounted: true });
    const people = await peopleOf(tile, typicalDay(5));
    expect(people(8, 0)).toBe("LOW_DENSITY");
    expect(people(8, 4)).toBe(300);
    expect((await storeDay(recounted, { ...typical, threshold })).changed).toBe(0);
  });

  test("a part of a typical day stays when another one comes after observed days", async () => {
    const tile = freshTile();
    const parent = firstParentOf(tile);
    await storeDay(dayOf(friday, first(tile)), { ...typical, ...coarser });
    await storeDay(dayOf(friday, tileOf(tile, { 8: { 0: 500, 1: 4, 2: 3 } })), { ...observed, ...coarser });
    expect(await peopleAt(tile.slice(0, -1), typicalDay(5), 8, parent)).toBeCloseTo((510 / 3) * 32, -1);
    await storeDay(dayOf(friday, second(tile)), { ...typical, ...coarser });
    const people = await peopleOf(tile, typicalDay(5));
    expect(people(8, 0)).toBe(500);
    expect(people(8, 4)).toBe(200);
    expect(await peopleAt(tile.slice(0, -1), typicalDay(5), 8, parent)).toBeCloseTo((315 / 5) * 32, -1.3);
  });

  test("three simultaneous imports of a day's parts store all of them", async () => {
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

  test("an import waits until the lease of one that was cut short has ended", async () => {
    const [tile, date] = [freshTile(), beforeFriday(7)];
    const key = observedDay(date);
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const until = Date.now() + 60_000;
    const order: string[] = [];
    expect(await takeDay(key, "killed", until, await readDayParts(key))).toBe(true);

    const storing = storeDay(dayOf(date, first(tile)), observed).then(() => order.push("stored"));
    // The import looks again and again; the clock stands still.
    await wait(1_000);
    order.push("ended");
    vi.setSystemTime(until);
    await storing;

    expect(order).toEqual(["ended", "stored"]);
    expect(await peopleAt(tile, key, 8, 0)).toBe(100);
    expect(await readDayParts(key)).not.toHaveProperty("writer");
  });
});
