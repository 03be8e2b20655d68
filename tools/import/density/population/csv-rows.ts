import { createReadStream } from "node:fs";
import { basename } from "node:path";
import { pipeline } from "node:stream/promises";
import { CsvError, parse } from "csv-parse";
import { isValidCell } from "h3-js";
import { ImportError } from "../../../../shared/import/import-error.ts";
import { longestLine } from "../../../../shared/import/lines.ts";
import { Problems } from "../../../../shared/import/problems.ts";
import { isFileError, unreadable } from "../../../../shared/import/unreadable.ts";
import { plural } from "../../../../shared/plural.ts";
import { type Column, columnsIn, type NamedColumns } from "./columns.ts";
import { ringOf } from "./hexagons.ts";
import type { Place, PopulationFile } from "./places.ts";

/**
 * The people of a CSV with a latitude and a longitude in each row. Fields are separated as those of the header are, by
 * commas, semicolons, tabs or vertical bars, or as a first line such as `sep=;` says, which Excel reads.
 * @throws {ImportError} naming the bad rows by their line.
 */
export function pointsOf(path: string, named: NamedColumns = {}): PopulationFile {
  return rowsOf(path, named, ["latitude", "longitude", "people"], (row) => {
    const { latitude, longitude, people, line } = row;
    if (hasDecimalComma(latitude)) return `latitude: ${decimalPoint}`;
    if (hasDecimalComma(longitude)) return `longitude: ${decimalPoint}`;
    const [north, east] = [numberIn(latitude), numberIn(longitude)];
    if (east === undefined || Math.abs(east) > 180) return "longitude: must be from -180 to 180";
    if (north === undefined) return "latitude: must be from -90 to 90";
    if (Math.abs(north) > 90) return "latitude: must be from -90 to 90; latitude and longitude swapped?";
    return { longitude: east, latitude: north, people, line };
  });
}

/**
 * The people of a CSV with an H3 cell in each row: as H3 writes it, or as the same 64-bit number in decimals, as
 * BigQuery and DuckDB have it.
 * @throws {ImportError} naming the bad rows by their line.
 */
export function h3CellsOf(path: string, named: NamedColumns = {}): PopulationFile {
  return rowsOf(path, named, ["h3", "people"], ({ h3, people, line }) => {
    const cell = decimalCell.test(h3) ? BigInt(h3).toString(16) : h3;
    if (!isValidCell(cell)) {
      const rounded = /^\d+(?:\.\d*)?e\+?\d+$|^\d{16,}/.test(h3)
        ? "; decimals that were rounded, as in a spreadsheet, name none"
        : "";
      return `h3: must be an H3 cell, such as 871f9069bffffff or 608541231454093311${rounded}`;
    }
    return { ring: ringOf(cell), people, line };
  });
}

/** No cell has another number of decimals. In hexadecimals it has 15 digits. */
const decimalCell = /^\d{18}$/;

type Wanted = Readonly<Record<Exclude<Column, "people">, string>> & {
  readonly people: number;
  readonly line: number;
};

const rowsAtOnce = 4_096;

async function* rowsOf(
  path: string,
  named: NamedColumns,
  wanted: readonly Column[],
  placeIn: (row: Wanted) => Place | string,
): AsyncGenerator<readonly Place[]> {
  const file = basename(path);
  const problems = new Problems([file]);
  let found: Readonly<Partial<Record<Column, number>>> | undefined;
  const parser = parse({
    bom: true,
    delimiter: await separatorOf(path, file),
    info: true,
    // Of a row whose quotes have line breaks in them.
    max_record_size: longestLine,
    relax_column_count: true,
    relax_quotes: false,
    skip_empty_lines: true,
  });
  const reading = pipeline(bytesOf(path, file), parser);
  // Thrown by the loop, which reads what the pipeline writes.
  reading.catch(() => undefined);
  let width = 0;
  let hasRow = false;
  let places: Place[] = [];
  try {
    for await (const { record, info } of parser as AsyncIterable<{
      record: readonly string[];
      info: { lines: number };
    }>) {
      if (found === undefined) {
        if (info.lines === 1 && separatorLine.test(record.join(""))) continue;
        found = columnsIn(record, wanted, named, file);
        width = record.length;
        continue;
      }
      // Some programs end every row, but not the header, with a separator.
      if (record.length < width || record.slice(width).some((field) => field !== "")) {
        problems.add(
          0,
          `has ${record.length} ${plural(record.length, "field")}, the header has ${width}`,
          info.lines,
        );
        continue;
      }
      const value = (column: Column) => record[found?.[column] ?? -1] ?? "";
      const people = numberIn(value("people"));
      if (people === undefined || people < 0) {
        problems.add(0, notPeopleReason(value("people")), info.lines, "people");
        continue;
      }
      hasRow = true;
      const row = {
        latitude: value("latitude"),
        longitude: value("longitude"),
        h3: value("h3").trim().toLowerCase(),
        people,
        line: info.lines,
      };
      const result = placeIn(row);
      if (typeof result === "string") problems.add(0, result, info.lines);
      else places.push(result);
      if (places.length >= rowsAtOnce) {
        yield places;
        places = [];
      }
    }
  } catch (error) {
    if (isFileError(error)) throw new ImportError([`${file}: ${unreadable(error.code)}`]);
    if (!(error instanceof CsvError)) throw error;
    const isTooLong = error.code === "CSV_MAX_RECORD_SIZE";
    throw new ImportError([`${file}: line ${error.lines}: ${isTooLong ? tooLong : misquoted}`]);
  }
  problems.refuse();
  if (!hasRow) throw new ImportError([`${file}: has no row`]);
  yield places;
}

/** The bytes of a file. @throws {ImportError} naming the first line that is too long. */
async function* bytesOf(path: string, file: string): AsyncGenerator<Buffer> {
  let [line, length, before] = [1, 0, 0];
  for await (const bytes of createReadStream(path) as AsyncIterable<Buffer>) {
    for (const byte of bytes) {
      if (byte === carriageReturn || (byte === newline && before !== carriageReturn)) line++;
      length = byte === carriageReturn || byte === newline ? 0 : length + 1;
      if (length > longestLine) throw new ImportError([`${file}: line ${line}: ${tooLong}`]);
      before = byte;
    }
    yield bytes;
  }
}

const [newline, carriageReturn] = Buffer.from("\n\r");
const tooLong = `is longer than ${longestLine} bytes; the quotes of an earlier field may be open`;
const misquoted =
  'must have quotes around a whole field or none, and "" for a quote inside; the quotes of an earlier line may be open';
const decimalPoint = "must have a point before its decimals, and no comma";

/** What is wrong with a number of people. */
function notPeopleReason(text: string): string {
  if (thousands.test(text.trim())) return "must have no separator of thousands: 1200, not 1,200";
  return hasDecimalComma(text) ? decimalPoint : "must be a number of people, 0 or more";
}

/** Groups of three digits. A point between two groups only is one before decimals. */
const thousands = /^[1-9]\d{0,2}(?:([,.'’\s])\d{3})(?:\1\d{3})*(?:[.,]\d*)?$/;

const separators = [",", ";", "\t", "|"];

/** A first line that says only what separates fields, with or without that. */
const separatorLine = /^"?sep=([,;\t|]?)"?$/i;

/** What separates the names of a header: what a line before it says, or what it has most of outside of quotes. */
async function separatorOf(path: string, file: string): Promise<string> {
  const start = await startOf(path, file);
  const [firstLine = ""] = start.split(/[\r\n]/, 1);
  const [, said] = separatorLine.exec(firstLine) ?? [];
  if (said) return said;
  const outside = start.split('"').filter((_, part) => part % 2 === 0);
  const [unquoted = ""] = outside.join("").split(/[\r\n]/, 1);
  const countOf = (separator: string) => unquoted.split(separator).length - 1;
  return separators.reduce((most, other) => (countOf(other) > countOf(most) ? other : most));
}

async function startOf(path: string, file: string): Promise<string> {
  let start = "";
  try {
    const bytes = createReadStream(path, { encoding: "utf8", end: longestLine - 1 });
    for await (const some of bytes) start += some;
  } catch (error) {
    if (isFileError(error)) throw new ImportError([`${file}: ${unreadable(error.code)}`]);
    throw error;
  }
  return start.replace(/^[\ufeff\r\n]+/, "");
}

const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** A number in decimals; other spellings that JavaScript knows, such as 0x1F, are none. */
function numberIn(text: string): number | undefined {
  const number = decimal.test(text.trim()) ? Number(text) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}

function hasDecimalComma(text: string): boolean {
  return /^[+-]?\d+,\d+$/.test(text.trim());
}
