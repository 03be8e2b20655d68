import { type TableName, tableVariable } from "../shared/tables.ts";

/** The stack output that holds a table's name; outputs have letters and digits only. */
export function tableOutput(table: TableName): string {
  return `${tableVariable(table).replaceAll("_", "")}NAME`;
}
