import { inTime } from "../../../shared/aws/clients.ts";
import { getItem, putItem } from "../../../shared/aws/database.ts";
import { whileChanged } from "../../../shared/aws/while-changed.ts";
import { ImportError } from "../../../shared/import/import-error.ts";
import { ReadCache } from "../../../shared/read-cache.ts";
import { withSchema } from "../../../shared/table.ts";
import {
  type DataSet,
  dataSet,
  type ImportedData,
  type Publishing,
  refusalOf,
  withImport,
  withPublishing,
} from "./data-set.ts";
import { densities } from "./table.ts";
import {
  type CalendarChange,
  changedCalendar,
  refusalOfChange,
  type TypicalCalendar,
  utcCalendar,
} from "./typical-calendar.ts";

const table = withSchema(densities, dataSet);
/** Key of the one item that has it. */
export const dataSetKey = { tile: "data-set", day: "all" };

const cache = new ReadCache<DataSet | undefined>(2 ** 16, () => 0);

/** Up to `CACHE_SECONDS` old, eventually consistent; undefined before the first import. */
export function readDataSet(signal: AbortSignal): Promise<DataSet | undefined> {
  return cache.get(dataSetKey.tile, () => getItem(table, dataSetKey, signal, "eventual"));
}

/**
 * Whether an import may add to what is stored.
 * @throws {ImportError} that says why not.
 */
export async function checkPublishing(publishing: Publishing): Promise<void> {
  const refusal = refusalOf(await currentDataSet(), publishing);
  if (refusal !== undefined) throw new ImportError([refusal]);
}

/**
 * What typical weekdays follow in an import: what they have followed, unless it is told otherwise.
 * @throws {ImportError} for another time zone, unless the change is to replace it.
 */
export async function calendarWith(change: CalendarChange | undefined): Promise<TypicalCalendar> {
  const dataSet = await currentDataSet();
  const before = dataSet?.calendar ?? utcCalendar;
  const refusal = refusalOfChange(dataSet === undefined ? undefined : before, change);
  if (refusal !== undefined) throw new ImportError([refusal]);
  return changedCalendar(before, change);
}

/**
 * Records K, precisions and calendar of an import before it stores anything, so that callers are never told of a larger K than
 * what they are answered from.
 * @param newestDay the latest observed date of the import; undefined for typical weekdays.
 * @param isReplay whether the same was published before: it is not refused for a K that was raised since.
 * @throws {ImportError} if it may not add to what is stored.
 */
export async function recordPublishing(
  publishing: Publishing,
  newestDay: string | undefined,
  isReplay = false,
): Promise<void> {
  await changeDataSet((before) => {
    const refusal = isReplay ? undefined : refusalOf(before, publishing);
    if (refusal !== undefined) throw new ImportError([refusal]);
    return withPublishing(before, publishing, newestDay);
  });
}

/** Adds what an import has stored. Adding it again changes nothing that callers see. */
export async function addToDataSet(imported: ImportedData): Promise<void> {
  await changeDataSet((before) => withImport(before, imported));
}

/** Every import changes the one item once or twice: ten of them may come before this one. */
const maxTries = 20;

/** As it is now, for imports and operators; undefined before the first import. */
export function currentDataSet(signal = inTime()): Promise<DataSet | undefined> {
  return getItem(table, dataSetKey, signal);
}

/**
 * Changes the data set.
 * @param change gives undefined for a data set that stays as it is.
 * @throws {Error} when other imports change the item each time.
 */
export async function changeDataSet(
  change: (before: DataSet | undefined) => DataSet | undefined,
): Promise<void> {
  const isDone = await whileChanged(maxTries, async () => {
    const before = await currentDataSet();
    const after = change(before);
    if (after === undefined) return true;
    const condition =
      before === undefined
        ? { condition: "attribute_not_exists(tile)" }
        : { condition: "revision = :read", values: { ":read": before.revision } };
    const item = { ...dataSetKey, ...after };
    return (await putItem(densities, item, condition, inTime())) || undefined;
  });
  if (isDone === undefined) throw new Error("the data set was modified concurrently; retry the import");
}
