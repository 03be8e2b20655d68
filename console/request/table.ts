/** Tables with areas in a column, as spreadsheets, databases and QGIS's clipboard have them. */
import { isWktText } from "./wkt.ts";

/** A table's column with areas, and what else it has. */
export interface AreaTable {
  /** The name of the column; undefined without a header. */
  readonly column: string | undefined;
  /** The column's values that are not empty. */
  readonly values: readonly string[];
  /** How many rows have no value in it. */
  readonly emptyRows: number;
  readonly isWkt: boolean;
  readonly otherColumns: readonly string[];
}

/**
 * Finds the column of a table that holds WKT or, by its name, geohashes. Fields are separated by tabs, semicolons, bars
 * or commas, and may be quoted.
 * @returns undefined for a text without such a column.
 */
export function parseTable(text: string): AreaTable | undefined {
  // Excel begins a file with what separates its fields.
  const table = text.replace(/^"?sep=[,;\t|]"?\r?\n/i, "");
  for (const separator of ["\t", ";", "|", ","]) {
    const [first = [], ...rows] = recordsOf(table, separator);
    const wkt =
      [first, ...rows.slice(0, 100)].map((row) => row.findIndex(isWktText)).find((index) => index >= 0) ?? -1;
    const index = wkt >= 0 ? wkt : first.findIndex((name) => /^(?:geohash|cell(?:id)?)$/i.test(name));
    if (index < 0 || (wkt < 0 && rows.length === 0)) continue;
    const hasHeader = !isWktText(first[index] ?? "");
    const all = (hasHeader ? rows : [first, ...rows]).map((row) => row[index] ?? "");
    const values = all.filter((value) => value !== "");
    return {
      column: hasHeader ? first[index] : undefined,
      values,
      emptyRows: all.length - values.length,
      isWkt: wkt >= 0,
      otherColumns: hasHeader ? first.filter((name, other) => other !== index && name !== "") : [],
    };
  }
  return undefined;
}

/** The fields of each line that is not empty, without quotes around them (RFC 4180). */
function recordsOf(text: string, separator: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  const field = new RegExp(
    String.raw`(?:"([^"]*(?:""[^"]*)*)"|([^\r\n${separator}]*))(${separator === "|" ? "\\|" : separator}|\r?\n|\r|$)`,
    "y",
  );
  for (let match = field.exec(text); match !== null; match = field.exec(text)) {
    const [, quoted, plain = "", end] = match;
    record.push((quoted?.replaceAll('""', '"') ?? plain).trim());
    if (end === separator) continue;
    if (record.some((value) => value !== "")) records.push(record);
    record = [];
    if (end === "" || field.lastIndex >= text.length) break;
  }
  return records;
}
