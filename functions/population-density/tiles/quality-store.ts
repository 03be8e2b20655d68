import { inTime } from "../../../shared/aws/clients.ts";
import { getItem, putItem } from "../../../shared/aws/database.ts";
import { whileChanged } from "../../../shared/aws/while-changed.ts";
import { ReadCache } from "../../../shared/read-cache.ts";
import { withSchema } from "../../../shared/table.ts";
import { type DayQuality, type Quality, quality } from "./quality.ts";
import { densities } from "./table.ts";

const table = withSchema(densities, quality);
/** Where it is: apart from the data set, which every request for densities reads. */
export const qualityKey = { tile: "data-set", day: "quality" };

const cache = new ReadCache<Quality | undefined>(2 ** 16, () => 0);

/** Every import changes the one item once or twice: ten of them may come before this one. */
const maxTries = 20;

/** Up to `CACHE_SECONDS` old, eventually consistent. */
export async function readQuality(signal: AbortSignal): Promise<readonly DayQuality[]> {
  const found = await cache.get(qualityKey.day, () => getItem(table, qualityKey, signal, "eventual"));
  return found?.days ?? [];
}

/** As it is now, for imports and operators. */
export async function currentQuality(): Promise<readonly DayQuality[]> {
  return (await currentItem())?.days ?? [];
}

function currentItem(): Promise<Quality | undefined> {
  return getItem(table, qualityKey, inTime());
}

/** @throws {Error} when other imports change the item each time. */
export async function changeQuality(change: (before: readonly DayQuality[]) => DayQuality[]): Promise<void> {
  const isDone = await whileChanged(maxTries, async () => {
    const before = await currentItem();
    const condition =
      before === undefined
        ? { condition: "attribute_not_exists(tile)" }
        : { condition: "revision = :read", values: { ":read": before.revision } };
    const item = { ...qualityKey, days: change(before?.days ?? []), revision: (before?.revision ?? 0) + 1 };
    return (await putItem(densities, item, condition, inTime())) || undefined;
  });
  if (isDone === undefined)
    throw new Error("the quality of days was modified concurrently; retry the import");
}
