/** What an item must look like, in Zod or Zod Mini: items are parsed when they are read. */
export interface Schema<Item> {
  readonly parse: (item: unknown) => Item;
}

/** Another order of a table's items. Its keys are strings, and what was written a moment ago may be missing. */
export interface Index {
  readonly name: string;
  readonly partitionKey: string;
  readonly sortKey: string;
  /** What it holds beside the keys. */
  readonly attributes: readonly string[];
}

/** A table: the stack creates it from here, and its stores read its keys and items by it. */
export interface Table<Item = unknown, Name extends string = string> {
  /** The name in this project; the deployed name is in the environment, under `tableVariable`. */
  readonly name: Name;
  /** Attribute of the partition key; a string. */
  readonly partitionKey: string;
  /** Attribute of the sort key; a string. */
  readonly sortKey?: string;
  /** Attribute with the epoch second after which DynamoDB may delete the item. */
  readonly timeToLive?: string;
  /** Further orders of its items; an item without the keys of one is not in it. */
  readonly indexes?: readonly Index[];
  /** Whether the items can be made again from nothing: such a table is neither backed up nor kept. */
  readonly ephemeral?: boolean;
  /** Whether the operator has the files that the items were imported from: such a table is kept, but not backed up. */
  readonly reimportable?: boolean;
  /**
   * Whether it holds personal data or credentials. It is then encrypted with the stack's own key, which only functions
   * that are granted such a table may use, and only through DynamoDB. What other tables hold is a hash, a catalogue or
   * public.
   */
  readonly personalData?: boolean;
  /** Of the items; of the main kind where a table holds several. */
  readonly schema: Schema<Item>;
}

/** Declares a table. Its area lists it in its `area.ts`. */
export function table<Item, const Name extends string>(declaration: Table<Item, Name>): Table<Item, Name> {
  return declaration;
}

/** The same table for items of another kind. */
export function withSchema<Item, Name extends string>(
  from: Table<unknown, Name>,
  schema: Schema<Item>,
): Table<Item, Name> {
  return { ...from, schema };
}

/** The environment variable that holds the deployed name of a table. */
export function tableVariable({ name }: Pick<Table, "name">): string {
  return `TABLE_${name.toUpperCase().replaceAll("-", "_")}`;
}
