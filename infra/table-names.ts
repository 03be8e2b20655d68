import { type TableName, tables } from "../functions/areas.ts";

/** The deployed names of a table: the one that is used, and one that versions before may still use. */
type NamesOfTable = readonly [used: string, ...before: string[]];

/** The deployed names of every table. */
export type TableNames = Readonly<Record<TableName, NamesOfTable>>;

/**
 * The deployed names of all tables. They are known before the deployment, so the stack of the functions needs no
 * output of the stack of the tables, which would prevent replacing a table by a restored one.
 * @param prefix of the names that are not chosen; the stacks of a stage have it too.
 */
export function tableNamesOf(prefix: string, chosen: Readonly<Partial<TableNames>>): TableNames {
  const names = tables.map(({ name }) => [name, chosen[name] ?? [`${prefix}-${name}`]]);
  return Object.fromEntries(names);
}
