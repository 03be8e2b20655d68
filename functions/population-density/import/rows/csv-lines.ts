import { CsvError, parse } from "csv-parse/sync";
import { nearestName } from "../../../../shared/nearest-name.ts";
import { plural } from "../../../../shared/plural.ts";
import { type Column, columns, type Fields, isColumn, type LineProblem, shownName } from "./row-check.ts";

/** The position of each column in a record; −1 for one that is not there. */
export type Header = { readonly [column in Column]: number } & { readonly length: number };

const required: readonly Column[] = ["geohash", "startTime", "people"];
const notCsv = "is not CSV with a record in each line";

/** Reads the first line of a file. @returns why it is refused, if it is. */
export function headerIn(line: string): Header | string {
  const names = recordIn(line);
  if (names === undefined)
    return /^\s*[[{]/.test(line) ? `${notCsv}: name a file of JSON objects .ndjson` : notCsv;
  const unknown = names.findIndex((name) => !isColumn(name));
  if (unknown >= 0)
    return `column ${unknown + 1}${nameAt(names, unknown)} is unknown; expected ${columns.join(", ")}${hintAt(names, unknown)}`;
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined) return `has ${repeated} twice`;
  const missing = required.find((name) => !names.includes(name));
  if (missing !== undefined) return `has no ${missing}`;
  const at = (column: Column) => names.indexOf(column);
  if (at("minPeople") < 0 !== at("maxPeople") < 0) return "has only one of minPeople and maxPeople";
  return {
    geohash: at("geohash"),
    startTime: at("startTime"),
    people: at("people"),
    minPeople: at("minPeople"),
    maxPeople: at("maxPeople"),
    length: names.length,
  };
}

/** The name of a column; nothing of a line that may be a row, whose values are not told: a row has digits. */
function nameAt(names: readonly string[], index: number): string {
  const isHeader = names.some(isColumn) || !names.some((name) => /\d/.test(name));
  return isHeader ? ` (${shownName(names[index] ?? "")})` : "";
}

/** What may be meant by a line that is no header, without its values. */
function hintAt(names: readonly string[], unknown: number): string {
  const [only = ""] = names;
  if (names.length === 1 && /[;\t]/.test(only)) return "; commas must separate the columns";
  if (names.some((name) => /^lat(?:itude)?$/i.test(name)))
    return "; three lines of DuckDB in docs/densities.md make geohashes of latitude and longitude";
  const nearest = nearestName(names[unknown] ?? "", columns);
  return nearest === undefined ? "" : `; did you mean ${nearest}?`;
}

/** The fields of lines of any CSV. @param count of the lines. */
export function* csvFields(
  text: string,
  count: number,
  header: Header,
  refuse: (problem: LineProblem) => void,
): Generator<Fields> {
  const records = recordsIn(text, count);
  for (let line = 0; line < records.length; line++) {
    const record = records[line];
    if (record === undefined) refuse({ line, reason: notCsv });
    else if (record.length === header.length) {
      yield {
        geohash: textIn(record[header.geohash]),
        startTime: textIn(record[header.startTime]),
        people: numberIn(record[header.people]),
        minPeople: numberIn(record[header.minPeople]),
        maxPeople: numberIn(record[header.maxPeople]),
        line,
      };
    } else if (record.length > 1 || record[0] !== "") {
      refuse({
        line,
        reason: `has ${record.length} ${plural(record.length, "field")}, not ${header.length}`,
      });
    }
  }
}

type CsvRecord = readonly string[];

/** A record for each line; undefined where the line is not one record. */
function recordsIn(text: string, count: number): readonly (CsvRecord | undefined)[] {
  const records = parsed(text);
  return records?.length === count ? records : text.split("\n", count).map(recordIn);
}

function recordIn(line: string): CsvRecord | undefined {
  const records = parsed(`${line}\n`);
  return records?.length === 1 ? records[0] : undefined;
}

function parsed(text: string): string[][] | undefined {
  try {
    return parse(text, { record_delimiter: ["\r\n", "\n"], relax_column_count: true });
  } catch (error) {
    if (error instanceof CsvError) return undefined;
    throw error;
  }
}

function textIn(field: string | undefined): string | undefined {
  return field === "" ? undefined : field;
}

/** @returns NaN for a text that is no number. */
export function numberIn(field: string | undefined): number | undefined {
  if (field === undefined || field === "") return undefined;
  return /^(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(field) ? Number(field) : Number.NaN;
}
