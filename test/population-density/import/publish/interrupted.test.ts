import { DynamoDBClient, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { expect, test } from "vitest";
import type { DayStorage } from "../../../../functions/population-density/import/publish/day-storage.ts";
import { storeDay } from "../../../../functions/population-density/import/publish/store-days.ts";
import { readDayParts } from "../../../../functions/population-density/import/store/part-store.ts";
import type { CountedTile } from "../../../../functions/population-density/privacy/counted.ts";
import { spanAt } from "../../../../functions/population-density/tiles/span.ts";
import { observedDay, readSpans, typicalDay } from "../../../../functions/population-density/tiles/store.ts";
import { readTileDay } from "../../../../functions/population-density/tiles/tile.ts";
import { ImportError } from "../../../../shared/import/import-error.ts";
import {
  beforeTileWrites,
  dayOf as countedDay,
  friday as date,
  tileOf,
  useOwnDensities,
} from "../../../support/stored-days.ts";

useOwnDensities();

const storage: DayStorage = { kind: "observed", precisions: [7], threshold: 10 };
const tile = "u05kq";

/** People at eight o'clock, in cells by their index in the tile. */
const dayOf = (counts: Readonly<Record<number, number>>) => countedDay(date, tileOf(tile, { 8: counts }));

/** The density of the tile's first cell. */
async function publishedIn(day: string): Promise<number | undefined> {
  const [item] = await readSpans(`7/${tile}`, [spanAt(day, 8)], AbortSignal.timeout(60_000));
  return item && readTileDay(item.hours).openHour(8)?.value(0);
}

/** As if an import had slept for longer than its lease. */
async function endLease(): Promise<void> {
  await new DynamoDBClient({}).send(
    new UpdateItemCommand({
      TableName: process.env.TABLE_DENSITY_IMPORTS,
      Key: { kind: { S: "parts" }, id: { S: observedDay(date) } },
      UpdateExpression: "SET writerUntil = :past",
      ExpressionAttributeValues: { ":past": { N: "0" } },
    }),
  );
}

test.each([
  ["the first import of the day", undefined],
  ["a day that was published", { 0: 300, 1: 40 }],
])(
  "an import whose lease has ended does not overwrite what another one has stored: %s",
  async (_, before) => {
    if (before !== undefined) await storeDay(dayOf(before), storage);
    let isFirst = true;
    const spied = beforeTileWrites(async () => {
      if (!isFirst) return;
      isFirst = false;
      await endLease();
      await storeDay(dayOf({ 0: 200, 1: 50 }), storage);
    });
    try {
      await expect(storeDay(dayOf({ 0: 100, 1: 60 }), storage)).rejects.toThrow(
        `${date}: another import has started to store it: repeat this one`,
      );
    } finally {
      spied.mockRestore();
    }

    const later = [await publishedIn(observedDay(date)), await publishedIn(typicalDay(5))];
    await storeDay(dayOf({ 0: 200, 1: 50 }), storage);
    expect(later).toEqual([await publishedIn(observedDay(date)), await publishedIn(typicalDay(5))]);
  },
);

test("an import fails when it loses the day after its last write", async () => {
  const day = dayOf({ 0: 200 });
  const stolen = (async function* () {
    yield* day.tiles;
    // Everything that was begun is written by then.
    await expect.poll(() => publishedIn(typicalDay(5))).toBeDefined();
    await endLease();
    await storeDay(dayOf({ 0: 300 }), storage);
  })();
  await expect(storeDay({ ...day, tiles: stolen }, storage)).rejects.toThrow(
    `${date}: another import has started to store it: repeat this one`,
  );
});

test("an import that fails before it has stored anything leaves no part behind", async () => {
  const failing = { ...dayOf({ 0: 100, 1: 60 }), tiles: failingTiles() };
  await expect(storeDay(failing, storage)).rejects.toThrow("the file is gone");

  expect((await readDayParts(observedDay(date)))?.parts).toEqual([]);
  // Its coverage was a mistake: with the part, this would be refused.
  await storeDay(dayOf({ 1: 70, 2: 80 }), storage);
  expect((await readDayParts(observedDay(date)))?.parts).toHaveLength(1);
});

test("a recount that fails before it has stored anything leaves the parts as they were", async () => {
  const typical: DayStorage = { ...storage, kind: "typical" };
  await storeDay(dayOf({ 0: 100, 1: 60 }), typical);
  const before = await readDayParts(typicalDay(5));

  const failing = { ...dayOf({ 0: 100 }), tiles: failingTiles() };
  await expect(storeDay(failing, { ...typical, isRecounted: true })).rejects.toThrow("the file is gone");

  expect((await readDayParts(typicalDay(5)))?.parts).toEqual(before?.parts);
  await expect(storeDay(dayOf({ 0: 101 }), typical)).rejects.toThrow(ImportError);
});

// biome-ignore lint/correctness/useYield: it fails before the first tile
async function* failingTiles(): AsyncGenerator<CountedTile> {
  throw new Error("the file is gone");
}
