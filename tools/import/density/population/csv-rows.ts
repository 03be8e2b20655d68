import { createReadStream } from "node:fs";
import { basename } from "node:path";
import { pipeline } from "node:stream/promises";
import { parse } from "csv-parse";
import { isValidCell } from "h3-js";
import { ImportError } from "../../../../shared/import/import-error.ts";
import { Problems } from "../../../../shared/import/problems.ts";
import { unreadable } from "../../../../shared/import/unreadable.ts";
import { ringOf } from "./hexagons.ts";
import type { Place, PopulationFile } from "./places.ts";

/** What a column may be called, in lower case. */
const columnNames = {
  latitude: ["latitude", "lat", "y"],
  longitude: ["longitude", "lon", "lng", "long", "x"],
  h3: ["h3", "h3_index", "h3index", "hex", "hex_id", "cell", "index"],
  people: ["people", "population", "pop", "value", "count"],
} as const;

type Column = keyof typeof columnNames;

/** A row as an object of its columns. */
type Row = Readonly<Record<string, string>>;

/**
 * The people of a CSV with a latitude and a longitude in each row, separated by commas, semicolons or tabs.
 * @throws {ImportError} naming the bad rows by their line.
 */
export function pointsOf(path: string): PopulationFile {
  return rowsOf(path, ["latitude", "longitude", "people"], ({ latitude, longitude, people }) => {
    const [north, east] = [numberIn(latitude), numberIn(longitude)];
    if (east === undefined || Math.abs(east) > 180) return "longitude: must be from -180 to 180";
    if (north === undefined) return "latitude: must be from -90 to 90";
    if (Math.abs(north) > 90) return "latitude: must be from -90 to 90; latitude and longitude swapped?";
    return { longitude: east, latitude: north, people };
  });
}

/**
 * The people of a CSV with an H3 cell in each row.
 * @throws {ImportError} naming the bad rows by their line.
 */
export function h3CellsOf(path: string): PopulationFile {
  return rowsOf(path, ["h3", "people"], ({ h3, people }) => {
    if (!isValidCell(h3)) return "h3: must be an H3 cell, such as 871f9069bffffff";
    return { ring: ringOf(h3), people };
  });
}

type Wanted = Readonly<Record<Exclude<Column, "people">, string>> & { readonly people: number };

const rowsAtOnce = 4_096;

async function* rowsOf(
  path: string,
  wanted: readonly Column[],
  placeIn: (row: Wanted) => Place | string,
): AsyncGenerator<readonly Place[]> {
  const file = basename(path);
  const problems = new Problems([file]);
  let found: Readonly<Partial<Record<Column, string>>> | undefined;
  const parser = parse({
    bom: true,
    columns: (header: readonly string[]) => header.map((name) => name.trim().toLowerCase()),
    delimiter: [",", ";", "\t"],
    info: true,
    relax_column_count: false,
    skip_empty_lines: true,
  });
  const reading = pipeline(createReadStream(path), parser);
  // Thrown by the loop, which reads what the pipeline writes.
  reading.catch(() => undefined);
  let places: Place[] = [];
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: Row; info: { lines: number } }>) {
      found ??= columnsIn(record, wanted, file);
      const value = (column: Column) => record[found?.[column] ?? ""] ?? "";
      const people = numberIn(value("people"));
      if (people === undefined || people < 0) {
        problems.add(0, "must be a number of people, not below 0", info.lines, "people");
        continue;
      }
      const row = {
        latitude: value("latitude"),
        longitude: value("longitude"),
        h3: value("h3").trim().toLowerCase(),
        people,
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
    if (!(error instanceof Error) || !("code" in error)) throw error;
    throw new ImportError([
      `${file}: ${"lines" in error ? `line ${error.lines}: ${error.code}` : unreadable(error.code)}`,
    ]);
  }
  problems.refuse();
  if (found === undefined) throw new ImportError([`${file}: has no row`]);
  yield places;
}

function columnsIn(row: Row, wanted: readonly Column[], file: string) {
  const found: Partial<Record<Column, string>> = {};
  for (const column of wanted) {
    const name = columnNames[column].find((one) => one in row);
    if (name === undefined) {
      throw new ImportError([
        `${file}: has no column for ${column}: name it ${columnNames[column].join(", ")}`,
      ]);
    }
    found[column] = name;
  }
  return found;
}

function numberIn(text: string): number | undefined {
  const number = text.trim() === "" ? Number.NaN : Number(text);
  return Number.isFinite(number) ? number : undefined;
}
