/** The schema of items, in Zod or Zod Mini; items are parsed when they are read. */
export interface Schema<Item> {
  readonly parse: (item: unknown) => Item;
}

/** An index of a table. Its keys are strings, and the most recent writes may be missing. */
export interface Index {
  readonly name: string;
  readonly partitionKey: string;
  readonly sortKey: string;
  /** The attributes it contains in addition to the keys. */
  readonly attributes: readonly string[];
}

/** The declaration of a table, from which the stack creates it and by which its stores read and write items. */
export interface Table<Item = unknown, Name extends string = string> {
  /** The name in this project; the deployed name is in the environment, under `tableVariable`. */
  readonly name: Name;
  /** Attribute of the partition key; a string. */
  readonly partitionKey: string;
  /** Attribute of the sort key; a string. */
  readonly sortKey?: string;
  /** Attribute with the epoch second after which DynamoDB may delete the item. */
  readonly timeToLive?: string;
  /** Its indexes; an index contains only items that have its keys. */
  readonly indexes?: readonly Index[];
  /**
   * Whether losing the items does no lasting harm: such a table is neither backed up nor protected from deletion, and a
   * first deployment that fails leaves none.
   */
  readonly ephemeral?: boolean;
  /** Whether the operator can import the items again: such a table is retained, but not backed up. */
  readonly reimportable?: boolean;
  /** Whether items are stored for long and hardly ever read: storage costs less than half, reads and writes a fourth more. */
  readonly rarelyRead?: boolean;
  /**
   * Whether it holds personal data or credentials. It is then encrypted with the stack's own key, which only functions
   * that are granted such a table may use, and only through DynamoDB. Other tables hold hashes, catalogues or public
   * data.
   */
  readonly personalData?: boolean;
  /** The schema of its items; of the main kind if it holds several. */
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
