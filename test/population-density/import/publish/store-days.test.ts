import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { describe, expect, test } from "vitest";
import {
  checkDay,
  storeCheckedDay,
  storeDay,
} from "../../../../functions/population-density/import/publish/store-days.ts";
import { spanAt, spansOf } from "../../../../functions/population-density/tiles/span.ts";
import { observedDay, tileName, typicalDay } from "../../../../functions/population-density/tiles/store.ts";
import { putDay } from "../../../support/densities.ts";
import {
  beforeFriday,
  beforeTileWrites,
  coarser,
  coverageOf,
  dayOf,
  everything,
  firstParentOf,
  freshTile,
  friday,
  monday,
  observed,
  peopleAt,
  peopleOf,
  stored,
  tileOf,
  typical,
  useOwnDensities,
} from "../../../support/stored-days.ts";

useOwnDensities();

/** Items of a day. */
const spans = spansOf(observedDay(friday)).length;

describe("an observed day", () => {
  test("an observed day is stored as its date and as its weekday, at every supported precision", async () => {
    const tile = freshTile();
    const day = dayOf(friday, tileOf(tile, { 8: { 0: 100, 31: 3, 32: 200 } }));
    const result = await storeDay(day, { ...observed, ...coarser });

    expect(result).toMatchObject({ items: 16 * spans, changed: 16 * spans });
    for (const day of [observedDay(friday), typicalDay(5)]) {
      const people = await peopleOf(tile, day);
      expect(people(8, 0)).toBe(100);
      expect(people(8, 31)).toBe("LOW_DENSITY");
      expect(people(8, 33)).toBe("NO_DATA");
      expect(people(9, 0)).toBeUndefined();
      // 5 people for the suppressed cell, by the area of two of the 32 cells.
      const parent = firstParentOf(tile);
      const found = await peopleAt(tile.slice(0, -1), day, 8, parent);
      expect(found).toBe(Math.round((105 / 2) * 32));
    }
    expect(await stored(tile, observedDay(friday))).toMatchObject({ madeFrom: [] });
    expect(await stored(tile, typicalDay(5))).toMatchObject({ madeFrom: [friday] });
  });

  test("an observed day expires 100 days after its end, and a typical day never", async () => {
    const tile = freshTile();
    await storeDay(dayOf(friday, tileOf(tile, { 8: { 0: 100 } })), observed);
    const [item, ...typicalItems] = await everything(tile, friday);
    expect(item).toHaveProperty("expiresAt", (Date.parse(friday) + 101 * 86_400_000) / 1_000);
    expect(typicalItems.filter((typicalItem) => typicalItem === undefined)).toEqual([]);
    for (const { expiresAt } of typicalItems.flatMap((found) => found ?? [])) {
      expect(expiresAt).toBeUndefined();
    }
  });

  test("an observed day gains new hours and keeps those not counted now", async () => {
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

  test("a typical Friday is the mean of the latest four of five, imported in any order", async () => {
    const tile = freshTile();
    for (const [days, people] of [
      [7, 60],
      [28, 9_000],
      [0, 80],
      [14, 20],
      [21, 40],
    ] as const) {
      await storeDay(dayOf(beforeFriday(days), tileOf(tile, { 8: { 0: people } })), observed);
    }

    // One more than are averaged: without one of them, the others make the same week.
    expect((await stored(tile, typicalDay(5)))?.madeFrom).toEqual([0, 7, 14, 21, 28].map(beforeFriday));
    expect(await peopleAt(tile, typicalDay(5), 8, 0)).toBe(50);
    expect(await peopleAt(tile, typicalDay(4), 8, 0)).toBeUndefined();

    const again = await storeDay(dayOf(beforeFriday(28), tileOf(tile, { 8: { 0: 9_000 } })), observed);
    expect(again.changed).toBe(0);
  });

  test("a typical weekday keeps naming days that have expired", async () => {
    const tile = freshTile();
    const item = { tile: tileName(7, tile), day: typicalDay(5), madeFrom: [beforeFriday(105)] };
    await putDay(item, Array(24).fill(undefined));
    await storeDay(dayOf(friday, tileOf(tile, { 8: { 0: 70 } })), observed);
    expect((await stored(tile, typicalDay(5)))?.madeFrom).toEqual([friday, beforeFriday(105)]);
    expect(await peopleAt(tile, typicalDay(5), 8, 0)).toBe(70);
  });
});

describe("a typical day", () => {
  test("an import of a typical day replaces its counted hours and what they were made from", async () => {
    // At precision 6 the other weekdays stay as they are: both cells are in the same one.
    const tile = freshTile();
    await storeDay(dayOf(monday, tileOf(tile, { 8: { 0: 100 }, 9: { 0: 200 } })), {
      ...observed,
      ...coarser,
    });
    const day = dayOf(monday, tileOf(tile, { 9: { 0: 300, 1: 30 } }));

    expect(await storeDay(day, { ...typical, ...coarser })).toMatchObject({
      items: 14 * spans,
      changed: 8 * spans,
    });

    expect(await stored(tile, typicalDay(1))).toMatchObject({ madeFrom: [] });
    const people = await peopleOf(tile, typicalDay(1));
    expect(people(8, 0)).toBe(100);
    expect(people(8, 1)).toBe("NO_DATA");
    expect(people(9, 0)).toBe(300);
    expect(await peopleAt(tile, observedDay(monday), 9, 0)).toBe(200);
    expect(await storeDay(day, { ...typical, ...coarser })).toMatchObject({ items: 14 * spans, changed: 0 });
  });

  test("hours of a typical day that are never observed stay", async () => {
    const tile = freshTile();
    await storeDay(dayOf(monday, tileOf(tile, { 8: { 0: 100 }, 9: { 0: 200 } })), typical);
    await storeDay(dayOf(monday, tileOf(tile, { 9: { 0: 300 } })), observed);
    const people = await peopleOf(tile, typicalDay(1));
    expect(people(8, 0)).toBe(100);
    expect(people(9, 0)).toBe(300);
  });
});

describe("what is covered", () => {
  test.each([observed, typical])("the same cells are covered on every weekday: $kind", async (storage) => {
    const tile = freshTile();
    await storeDay(dayOf(beforeFriday(2), tileOf(tile, { 8: { 0: 100, 7: 20 } })), storage);
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
  test.each(["before", "while"])(
    "a day that was checked %s another import stored it is refused for what that has published",
    async (when) => {
      const tile = freshTile();
      const part = (people: number) => dayOf(friday, tileOf(tile, { 8: { 0: people, 1: 40 } }));
      await storeDay(part(100), observed);
      const day = dayOf(friday, tileOf(tile, { 8: { 0: 100, 9: 50 } }));
      let checked = when === "before" ? await checkDay(day, observed) : undefined;
      const spied = beforeTileWrites(async () => {
        checked ??= await checkDay(day, observed);
      });
      await storeDay(part(200), observed).finally(() => spied.mockRestore());

      const found = checked ?? (await checkDay(day, observed));
      await expect(storeCheckedDay(day, observed, found)).rejects.toThrow(
        `${friday}: cell ${tile}00 in hour 8 was published with another number`,
      );
      expect(await peopleAt(tile, observedDay(friday), 8, 0)).toBe(200);
    },
  );

  test("an import fails by the tile's name when what is stored cannot be read", async () => {
    const tile = freshTile();
    const broken = {
      tile: tileName(7, tile),
      day: spanAt(typicalDay(2), 8),
      hours: new Uint8Array([9]),
      revision: 1,
    };
    await new DynamoDBClient({}).send(
      new PutItemCommand({ TableName: process.env.TABLE_DENSITIES, Item: marshall(broken) }),
    );
    await expect(storeDay(dayOf(friday, tileOf(tile, { 8: { 0: 100 } })), observed)).rejects.toThrow(
      `tile 7/${tile} of ${friday}`,
    );
  });
});
