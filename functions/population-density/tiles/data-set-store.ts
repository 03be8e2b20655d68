import { setTimeout as wait } from "node:timers/promises";
import { getItem, putItem } from "../../../shared/aws/database.ts";
import { ReadCache } from "../../../shared/read-cache.ts";
import { withSchema } from "../../../shared/table.ts";
import { type DataSet, dataSet, type ImportedData, withImport } from "./data-set.ts";
import { densities } from "./table.ts";

const table = withSchema(densities, dataSet);
const key = { tile: "data-set", day: "all" };

const cache = new ReadCache<DataSet | undefined>(2 ** 16, () => 0);

/** Up to `CACHE_SECONDS` old, eventually consistent; undefined before the first import. */
export function readDataSet(signal: AbortSignal): Promise<DataSet | undefined> {
  return cache.get(key.tile, () => getItem(table, key, signal, "eventual"));
}

const callMilliseconds = 60_000;
const maxAttempts = 20;

/**
 * Adds what an import has stored. Adding it again changes nothing that callers see.
 * @throws {Error} when other imports change the item each time.
 */
export async function addToDataSet(imported: ImportedData): Promise<void> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const before = await getItem(table, key, AbortSignal.timeout(callMilliseconds));
    const condition =
      before === undefined
        ? { condition: "attribute_not_exists(tile)" }
        : { condition: "revision = :read", values: { ":read": before.revision } };
    const item = { ...key, ...withImport(before, imported) };
    if (await putItem(densities, item, condition, AbortSignal.timeout(callMilliseconds))) return;
    await wait(10 * (attempt + 1) * Math.random());
  }
  throw new Error("the data set changes all the time: repeat the import");
}
