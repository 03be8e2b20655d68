import type { Condition } from "../../shared/aws/database.ts";
import { patienceMilliseconds } from "../../shared/aws/patient-calls.ts";
import { type Table, withSchema } from "../../shared/table.ts";
import { type StoredItem, scanItems } from "../aws/scan-items.ts";

/** What a table holds about a person. */
export interface StoredData {
  readonly table: Table;
  /** In the order in which they are deleted. */
  readonly items: readonly StoredItem[];
  /** An item as it is exported, without credentials and without the hashes that only the service needs. */
  readonly shown: (item: StoredItem) => StoredItem;
  /** The attribute with the subscription, where another person may have taken an item's key since it was read. */
  readonly owner?: string;
  /** Is done just before the items are deleted. */
  readonly beforehand?: () => Promise<void>;
  /** Deletes what is no item of its own. */
  readonly erase?: () => Promise<void>;
}

/** The time limit of some calls; to read a whole table takes longer, and each of its pages has its own. */
export function patience(): AbortSignal {
  return AbortSignal.timeout(patienceMilliseconds);
}

/** A table whose items are read as they are stored, with attributes that no schema has. */
export function itemsAsStored<Name extends string>(table: Table<unknown, Name>): Table<StoredItem, Name> {
  return withSchema(table, { parse: (item) => item as StoredItem });
}

/** Reads a whole table for the items whose attribute is one of some texts. */
export async function itemsWith(
  table: Table,
  attribute: string,
  texts: readonly string[],
): Promise<StoredItem[]> {
  return await scanned(table, attribute, texts, (name) => `#attribute = ${name}`);
}

/** Reads a whole table for the items whose attribute contains one of some texts. */
export async function itemsContaining(
  table: Table,
  attribute: string,
  texts: readonly string[],
): Promise<StoredItem[]> {
  return await scanned(table, attribute, texts, (name) => `contains(#attribute, ${name})`);
}

async function scanned(
  table: Table,
  attribute: string,
  texts: readonly string[],
  termOf: (name: string) => string,
): Promise<StoredItem[]> {
  const names = texts.map((_, index) => `:text${index}`);
  const filter: Condition = {
    condition: names.map(termOf).join(" OR "),
    names: { "#attribute": attribute },
    values: Object.fromEntries(names.map((name, index) => [name, texts[index]])),
  };
  const items: StoredItem[] = [];
  for await (const page of scanItems(table, filter)) items.push(...page);
  return items;
}
