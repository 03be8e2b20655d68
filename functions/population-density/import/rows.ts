import { extname } from "node:path";
import { CsvError, parse } from "csv-parse/sync";
import { instantOf } from "../../../shared/calendar.ts";
import { type Lines, linesOf } from "../../../shared/import/lines.ts";
import type { Problems } from "../../../shared/import/problems.ts";
import { suffixesOf } from "../cover/geohash.ts";
import type { Range } from "./market-share.ts";

/** People counted in a cell in an hour, at most 10^9; one number that is the whole range if its file has none. */
export interface Row extends Range {
  /** 2 to 12 characters, as many as in every other row of the import. */
  readonly geohash: string;
  /** What it has in common with the other cells of its tile: all but the last two characters. */
  readonly tile: string;
  /** The last two characters as a number from 0 to 1023. */
  readonly cell: number;
  /** In UTC, counted from 1970. */
  readonly hour: number;
  /** The position of its file among those of the import, counted from 0. */
  readonly file: number;
  /** Counted from 1. */
  readonly line: number;
}

/** Callbacks while rows are read. */
export interface RowsOptions {
  readonly problems: Problems;
  /** Called with the number of further bytes that were read. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

/**
 * The rows of files of any size, one file after the other. A `.csv` begins with the names of its columns, in any order:
 * `geohash,startTime,people` and perhaps `minPeople,maxPeople`; an `.ndjson` or `.jsonl` has an object with these
 * members in each line. Blank lines are skipped. A row that is refused is a problem and left out.
 * @throws {ImportError} after the last row, or when the maximum of problems is reached. Rows are not known to be valid
 * before the last one was read.
 */
export async function* rowsOf(paths: readonly string[], options: RowsOptions): AsyncGenerator<Row> {
  const { problems } = options;
  const check = new RowCheck(problems);
  for (const [file, path] of paths.entries()) {
    const format = formats[extname(path)];
    if (format === undefined) {
      problems.add(file, `must end in ${Object.keys(formats).join(", ")}`);
      continue;
    }
    const problemsBefore = problems.count;
    const fieldsIn = format(file, problems);
    let isEmpty = true;
    for await (const lines of linesOf(path, { file, ...options })) {
      const fieldsOfLines = fieldsIn(lines);
      if (fieldsOfLines === undefined) break;
      for (const fields of fieldsOfLines) {
        isEmpty = false;
        const row = check.rowOf(fields, file);
        if (row !== undefined) yield row;
      }
    }
    if (isEmpty && problems.count === problemsBefore) problems.add(file, "has no rows");
  }
  problems.refuse();
}

const columns = ["geohash", "startTime", "people", "minPeople", "maxPeople"] as const;
type Column = (typeof columns)[number];
const required: readonly Column[] = ["geohash", "startTime", "people"];

/** The fields of a line before they are checked; undefined for absent ones. */
type Fields = { readonly [column in Column]: unknown } & { readonly line: number };

/** Parses the lines of a file, batch by batch; undefined when the rest of the file cannot be parsed. */
type Format = (file: number, problems: Problems) => (lines: Lines) => Iterable<Fields> | undefined;

const formats: Readonly<Record<string, Format>> = { ".csv": csv, ".ndjson": ndjson, ".jsonl": ndjson };

/** The position of each column in a record; −1 for one that is not there. */
type Header = { readonly [column in Column]: number } & { readonly length: number };

const notCsv = "is not CSV with a record in each line";

function csv(file: number, problems: Problems) {
  let header: Header | undefined;
  return (lines: Lines): Iterable<Fields> | undefined => {
    const records = recordsOf(lines);
    if (header !== undefined) return fieldsOf(records, header, lines.first);
    const read = headerOf(records[0]);
    if (typeof read === "string") {
      problems.add(file, read, lines.first);
      return undefined;
    }
    header = read;
    return fieldsOf(records.slice(1), header, lines.first + 1);
  };

  function* fieldsOf(
    records: readonly (CsvRecord | undefined)[],
    header: Header,
    first: number,
  ): Generator<Fields> {
    for (let index = 0; index < records.length; index++) {
      const record = records[index];
      const line = first + index;
      if (record === undefined) problems.add(file, notCsv, line);
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
        problems.add(file, `has ${record.length} fields, not ${header.length}`, line);
      }
    }
  }
}

type CsvRecord = readonly string[];

/** A record for each line; undefined where the line is not one record. */
function recordsOf({ text, count }: Lines): readonly (CsvRecord | undefined)[] {
  const records = parsed(text);
  if (records?.length === count) return records;
  return text
    .split("\n", count)
    .map((line) => parsed(`${line}\n`))
    .map((ofLine) => (ofLine?.length === 1 ? ofLine[0] : undefined));
}

function parsed(text: string): string[][] | undefined {
  try {
    return parse(text, { record_delimiter: ["\r\n", "\n"], relax_column_count: true });
  } catch (error) {
    if (error instanceof CsvError) return undefined;
    throw error;
  }
}

/** @returns why it is refused, if it is. */
function headerOf(names: CsvRecord | undefined): Header | string {
  if (names === undefined) return notCsv;
  const unknown = names.findIndex((name) => !isColumn(name));
  if (unknown >= 0) return `column ${unknown + 1} is none of ${columns.join(", ")}`;
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

function isColumn(name: string): boolean {
  return columns.some((column) => column === name);
}

function textIn(field: string | undefined): string | undefined {
  return field === "" ? undefined : field;
}

/** @returns NaN for a text that is no number. */
function numberIn(field: string | undefined): number | undefined {
  if (field === undefined || field === "") return undefined;
  return /^(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(field) ? Number(field) : Number.NaN;
}

function ndjson(file: number, problems: Problems) {
  return function* ({ text, first, count }: Lines): Generator<Fields> {
    const lines = text.split("\n", count);
    for (let index = 0; index < lines.length; index++) {
      const content = lines[index] ?? "";
      const line = first + index;
      if (content.trim() === "") continue;
      const members = objectIn(content);
      if (members === undefined) problems.add(file, "is not a JSON object", line);
      else if (Object.keys(members).every(isColumn)) {
        const { geohash, startTime, people, minPeople, maxPeople } = members;
        yield { geohash, startTime, people, minPeople, maxPeople, line };
      } else {
        problems.add(file, `has a member that is none of ${columns.join(", ")}`, line);
      }
    }
  };
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const geohashes = /^[0-9b-hjkmnp-z]{2,12}$/;
const cells: ReadonlyMap<string, number> = new Map(suffixesOf(2).map((suffix, cell) => [suffix, cell]));

const hourMilliseconds = 3_600_000;
const endOfDates = Date.UTC(10_000, 0);
const maxPeople = 1e9;
const notPeople = `must be a number from 0 to ${maxPeople}`;

/** Of times that are remembered: a year has fewer. */
const maxHours = 10_000;

/** Checks rows one by one. The first geohash determines the length of all. */
class RowCheck {
  readonly #problems: Problems;
  #precision: number | undefined;
  /** Of times that were read before: the same ones come again and again. */
  readonly #hours = new Map<string, number>();
  #file = 0;
  #line = 0;

  constructor(problems: Problems) {
    this.#problems = problems;
  }

  rowOf(fields: Fields, file: number): Row | undefined {
    this.#file = file;
    this.#line = fields.line;
    const geohash = this.#geohashOf(fields);
    const hour = this.#hourOf(fields);
    const range = this.#rangeOf(fields);
    if (geohash === undefined || hour === undefined || range === undefined) return undefined;
    const { people, least, greatest } = range;
    const [tile, cell] = [geohash.slice(0, -2), cells.get(geohash.slice(-2)) ?? 0];
    return { geohash, tile, cell, hour, people, least, greatest, file, line: fields.line };
  }

  #geohashOf({ geohash }: Fields): string | undefined {
    if (typeof geohash !== "string" || !geohashes.test(geohash)) {
      return this.#refuse("geohash", geohash, "must be a geohash of 2 to 12 characters in lower case");
    }
    this.#precision ??= geohash.length;
    if (geohash.length === this.#precision) return geohash;
    return this.#refuse("geohash", geohash, `must have ${this.#precision} characters like the ones before`);
  }

  #hourOf({ startTime }: Fields): number | undefined {
    const text = typeof startTime === "string" ? startTime : "";
    const known = this.#hours.get(text);
    if (known !== undefined) return known;
    const instant = instantOf(text);
    if (instant === undefined) {
      return this.#refuse("startTime", startTime, "must be an RFC 3339 date-time with a zone");
    }
    const hour = instant.milliseconds / hourMilliseconds;
    if (!Number.isInteger(hour) || instant.digits !== "") {
      return this.#refuse("startTime", startTime, "must be on the hour in UTC");
    }
    if (instant.milliseconds < 0 || instant.milliseconds >= endOfDates) {
      return this.#refuse("startTime", startTime, "must be from 1970 to 9999");
    }
    if (this.#hours.size === maxHours) this.#hours.clear();
    this.#hours.set(text, hour);
    return hour;
  }

  #rangeOf({ people, minPeople, maxPeople }: Fields): Range | undefined {
    if (!isPeople(people)) return this.#refuse("people", people, notPeople);
    if (minPeople === undefined && maxPeople === undefined)
      return { people, least: people, greatest: people };
    if (!isPeople(minPeople)) return this.#refuse("minPeople", minPeople, notPeople);
    if (!isPeople(maxPeople)) return this.#refuse("maxPeople", maxPeople, notPeople);
    if (minPeople > people) return this.#refuse("minPeople", minPeople, "is above people");
    if (maxPeople < people) return this.#refuse("maxPeople", maxPeople, "is below people");
    return { people, least: minPeople, greatest: maxPeople };
  }

  #refuse(column: Column, value: unknown, reason: string): undefined {
    this.#problems.add(this.#file, value === undefined ? "is missing" : reason, this.#line, column);
  }
}

function isPeople(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= maxPeople;
}
