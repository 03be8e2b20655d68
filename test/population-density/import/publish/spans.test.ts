import { expect, test } from "vitest";
import { storeDay } from "../../../../functions/population-density/import/publish/store-days.ts";
import { useOwnDensityTables } from "../../../support/database.ts";
import { isWhole } from "../../../support/sample.ts";
import {
  beforeFriday,
  beforeTileWrites,
  dayOf,
  everything,
  freshTile,
  friday,
  observed,
  tileOf,
  typical,
  useOwnDensities,
} from "../../../support/stored-days.ts";

useOwnDensities();

const lastFriday = beforeFriday(7);

/** Imports that meet in every way: parts of a day, some of its hours, corrections, weekdays of both kinds. */
function importsOf(tile: string): readonly (() => Promise<unknown>)[] {
  const store = (date: string, counts: Parameters<typeof tileOf>[1], storage = observed) => {
    return () => storeDay(dayOf(date, tileOf(tile, counts)), storage);
  };
  return [
    store(friday, { 3: { 0: 100, 1: 60 }, 20: { 0: 90, 1: 4 } }, typical),
    store(lastFriday, { 3: { 0: 70, 1: 30 }, 9: { 0: 200, 1: 3 } }),
    store(friday, { 3: { 0: 80, 1: 40 }, 20: { 0: 20, 1: 5 } }),
    store(friday, { 3: { 40: 300, 41: 2 } }),
    store(friday, { 9: { 0: 120, 1: 2 } }),
    store(friday, { 20: { 2: 9, 0: 30, 1: 50 } }, typical),
    store(lastFriday, { 3: { 0: 75, 1: 35 } }),
  ];
}

/** What is published of the tile, and of the one that it is in. */
async function published(tile: string) {
  const all = [tile, tile.slice(0, -1)].flatMap((geohash) => [
    everything(geohash, friday),
    everything(geohash, lastFriday),
  ]);
  return await Promise.all(all);
}

test("an import that failed at any write publishes the same when it is repeated", async () => {
  const tile = freshTile();
  const imports = importsOf(tile);
  const correction = 4;
  const before = imports.slice(0, correction);
  for (const store of before) await store();
  const writes = await writesOf(imports[correction]);
  for (const store of imports.slice(correction + 1)) await store();
  const wanted = await published(tile);

  for (let failing = 1; failing <= writes; failing += isWhole ? 1 : Math.ceil(writes / 2)) {
    await useOwnDensityTables();
    for (const store of before) await store();
    await expect(writesOf(imports[correction], failing)).rejects.toThrow("could not be stored");
    for (const store of imports.slice(correction)) await store();
    expect(await published(tile)).toEqual(wanted);
  }
});

/**
 * How many calls write an import's tiles.
 * @param failing the call that ends the import when it has written some of its items, from 1 on; none if absent.
 */
async function writesOf(store: (() => Promise<unknown>) | undefined, failing?: number): Promise<number> {
  let writes = 0;
  const spied = beforeTileWrites(async ({ sendSome }) => {
    if (++writes !== failing) return;
    await sendSome();
    throw new Error("killed");
  });
  try {
    await store?.();
    return writes;
  } finally {
    spied.mockRestore();
  }
}
