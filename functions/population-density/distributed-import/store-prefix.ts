import { contextOf } from "../import/publish/day-context.ts";
import { storageOf } from "../import/publish/import-order.ts";
import { storeTiles } from "../import/publish/store-tiles.ts";
import { excludedDays } from "../import/store/exclusion-store.ts";
import { anonymousTiles } from "../privacy/anonymous-tiles.ts";
import type { ParentSums } from "../privacy/tile-pyramid.ts";
import { heldDay } from "./begin-import.ts";
import { type ImportOrder, keys, putJson, type StoredTiles } from "./execution-objects.ts";
import { divisionHere, plannedPrefix, rowsOfDay, tilesOfDay } from "./prefix-rows.ts";
import { topPrecision } from "./storage.ts";
import { jsonOfSums } from "./sums.ts";

/**
 * Stores the tiles with a prefix at every precision at which they are wholly in it, day after day, and leaves the sums
 * for coarser tiles. Doing it again changes nothing.
 */
export async function storePrefix(order: ImportOrder, prefix: string): Promise<void> {
  const planned = await plannedPrefix(order.id, prefix);
  const { precision, days, calendar } = planned.whole;
  const storage = storageOf(order, calendar);
  const excluded = await excludedDays(order.replay);
  const total: StoredTiles = { items: 0, changed: 0, days: [] };
  for (const day of days) {
    const division = divisionHere(planned, day);
    const tiles = tilesOfDay(planned, day, await rowsOfDay(planned, day.day));
    const sums: ParentSums[] = [];
    const top = topPrecision(precision);
    const beyond =
      top > Math.min(...storage.precisions)
        ? { precision: top, take: (one: ParentSums) => void sums.push(one) }
        : undefined;
    const made = anonymousTiles({ precision, tiles }, storage, division.division.partsIn, beyond);
    const context = contextOf(day, storage, division, day.listed, excluded);
    const { items, changed, errors } = await storeTiles(made, context, heldDay(order, day));
    total.items += items;
    total.changed += changed;
    total.days.push({ changed, errors });
    if (sums.length > 0) await putJson(keys.sums(order.id, day.day, prefix), sums.map(jsonOfSums));
  }
  await putJson(keys.stored(order.id, prefix), total);
}
