import { basename } from "node:path";
import * as z from "zod/mini";
import { keysOf } from "../../../shared/aws/objects.ts";
import { comparisonOf, contextOf } from "../import/publish/day-context.ts";
import { endImport, storageOf } from "../import/publish/import-order.ts";
import { storeFigures } from "../import/publish/store-figures.ts";
import { type DayStored, storeTiles } from "../import/publish/store-tiles.ts";
import { PartCoverages } from "../import/store/coverage-store.ts";
import { excludedDays } from "../import/store/exclusion-store.ts";
import { coarserTiles } from "../privacy/anonymous-tiles.ts";
import { PartAreas } from "../privacy/part-areas.ts";
import type { ParentSums } from "../privacy/tile-pyramid.ts";
import { ForecastErrors } from "../tiles/forecast-error.ts";
import { heldDay, releaseDays, withdrawDays } from "./begin-import.ts";
import {
  eachJson,
  folders,
  getJson,
  type Imported,
  type ImportOrder,
  imported,
  journalled,
  keys,
  type Plan,
  plan,
  putJson,
  storedTiles,
} from "./execution-objects.ts";
import { readJudgement } from "./judgement.ts";
import { topPrecision } from "./storage.ts";
import { storedSumsOfDay, sumsOfJson } from "./sums.ts";

/**
 * Stores the tiles that are coarser than a prefix, from the sums of all prefixes, and lets others store the days. Done
 * again, it stores nothing: other imports may have taken some of the days since.
 */
export async function finishImport(order: ImportOrder): Promise<Imported> {
  const whole = await getJson(plan, keys.plan(order.id));
  let done: Imported | undefined;
  for await (const { value } of eachJson(imported, keys.imported(order.id))) done = value;
  if (done === undefined) {
    done = await storeCoarser(order, whole);
    await putJson(keys.imported(order.id), done);
  }
  await releaseDays(order, whole);
  return done;
}

async function storeCoarser(
  order: ImportOrder,
  { rows, precision, box, outline, calendar, days }: Plan,
): Promise<Imported> {
  const storage = storageOf(order, calendar);
  const excluded = await excludedDays(order.replay);
  const total = { items: 0, changed: 0 };
  const ofDays = days.map(() => ({ changed: 0, errors: new ForecastErrors() }));
  const addToDay = (index: number, { changed, errors }: Pick<DayStored, "changed" | "errors">) => {
    const ofDay = ofDays[index];
    if (ofDay === undefined) throw new Error("a day that is not of the plan");
    ofDay.changed += changed;
    ofDay.errors.addAll(errors);
  };
  for await (const { value } of eachJson(storedTiles, folders.stored(order.id))) {
    total.items += value.items;
    total.changed += value.changed;
    for (const [index, ofDay] of value.days.entries()) addToDay(index, ofDay);
  }
  const isAllStored = topPrecision(precision) <= Math.min(...storage.precisions);
  const coverages = new PartCoverages();
  for (const [index, day] of days.entries()) {
    const held = heldDay(order, day);
    if (isAllStored) {
      await held.renew();
      continue;
    }
    const areas = new PartAreas(await Promise.all(day.parts.map((part) => coverages.read(part))));
    const tiles = coarserTiles(sumsOf(order.id, day.day), storage);
    const context = contextOf(day, storage, { parts: day.parts, areas }, day.listed, excluded);
    const stored = await storeTiles(tiles, context, held);
    total.items += stored.items;
    total.changed += stored.changed;
    addToDay(index, stored);
  }
  const compared = days.map(({ date, renewed, created }, index) => {
    const { changed = 0, errors } = ofDays[index] ?? {};
    const published = [...renewed, ...(created === undefined ? [] : [created])];
    return comparisonOf(date, published, { changed, errors: errors?.list() ?? [] }, box);
  });
  const judgement = await readJudgement(order.id);
  await storeFigures(order, judgement.days);
  const dates = days.map(({ date }) => date);
  await endImport(order, dates, { coverage: box, outline, compared }, await numberOf(order));
  return { rows, ...total, findings: judgement.found };
}

/** The import's number in the journal; undefined for one that is made again. */
async function numberOf({ id, replay }: ImportOrder): Promise<number | undefined> {
  return replay === undefined ? (await getJson(journalled, keys.journalled(id))).number : undefined;
}

async function* sumsOf(id: string, day: number): AsyncGenerator<ParentSums> {
  for await (const { value } of eachJson(storedSumsOfDay, folders.sums(id, day))) {
    for (const sums of value) yield sumsOfJson(sums);
  }
}

const failedPrefix = z.object({ reason: z.string() });

/**
 * Withdraws the days of an import that has failed.
 * @returns why it failed, as far as its steps have recorded it.
 */
export async function failImport(order: ImportOrder): Promise<string[]> {
  await withdrawDays(order, await getJson(plan, keys.plan(order.id)));
  const done = new Set<string>();
  for await (const key of keysOf(folders.stored(order.id))) done.add(basename(key));
  const reasons = new Set<string>();
  for await (const { key, value } of eachJson(failedPrefix, folders.failed(order.id))) {
    // A step that a later attempt has done is no reason.
    if (!done.has(basename(key))) reasons.add(value.reason);
  }
  return [...reasons];
}
