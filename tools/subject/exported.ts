import type { StoredItem } from "../aws/scan-items.ts";
import type { Subject } from "./stored-data.ts";
import type { StoredData } from "./stored-items.ts";

/** What is stored about a person as JSON, by table; items that show the same, as those of one device do, once. */
export function exported({ subscription }: Subject, data: readonly StoredData[], now: Date): string {
  const tables = Object.fromEntries(
    data.map(({ table, items, shown }) => [table.name, distinct(items.map(shown))]),
  );
  const all = { subscription, exportedAt: now.toISOString(), tables };
  return JSON.stringify(all, (_, value) => (value instanceof Set ? [...value] : value), 2);
}

function distinct(items: readonly StoredItem[]): StoredItem[] {
  return [...new Map(items.map((item) => [JSON.stringify(item), item])).values()];
}
