import { plural } from "../../shared/plural.ts";

/** Writes a line to standard output. */
export type Print = (line: string) => void;

/** How many of the items of a table that an import makes it has written: the others were stored before. */
export function changedItems({
  changed,
  items,
}: {
  readonly changed: number;
  readonly items: number;
}): string {
  return `${changed.toLocaleString("en")} of ${items.toLocaleString("en")} DynamoDB ${plural(items, "item")} changed`;
}
