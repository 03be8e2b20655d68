import { readFile } from "node:fs/promises";
import { basename, extname } from "node:path";
import { CsvError, parse } from "csv-parse/sync";
import * as z from "zod";
import { isCalendarDate } from "../../../shared/calendar.ts";
import { ImportError } from "../../../shared/import/import-error.ts";
import { unreadable } from "../../../shared/import/unreadable.ts";
import { readJsonAs } from "../json-file.ts";

/** More than any country has in twenty years; each import keeps them. */
const maxHolidays = 400;

const holidays = z
  .array(z.string().refine(isCalendarDate, "must be a date, YYYY-MM-DD"))
  .max(maxHolidays)
  .transform((dates) => [...new Set(dates)].sort());

/**
 * Reads the local dates that count as Sundays: a `.json` with a list of them, or a `.csv` with a column `date`, whose
 * other columns are ignored.
 * @returns each date once, ascending.
 * @throws {ImportError} naming what is refused.
 */
export async function readHolidays(path: string): Promise<string[]> {
  if (extname(path) === ".json") return await readJsonAs(holidays, path);
  const file = basename(path);
  if (extname(path) !== ".csv") throw new ImportError([`${file}: must end in .json or .csv`]);
  const found = holidays.safeParse((await rowsOf(path, file)).map((row) => row.date ?? ""));
  if (found.success) return found.data;
  throw new ImportError(
    found.error.issues.map(({ path: [row], message }) =>
      row === undefined ? `${file}: ${message}` : `${file}: row ${Number(row) + 1}: ${message}`,
    ),
  );
}

async function rowsOf(path: string, file: string): Promise<Record<string, string>[]> {
  try {
    const rows: Record<string, string>[] = parse(await readFile(path), {
      bom: true,
      columns: true,
      skip_empty_lines: true,
      trim: true,
    });
    if (rows[0] !== undefined && !("date" in rows[0])) throw new ImportError([`${file}: has no column date`]);
    return rows;
  } catch (error) {
    if (error instanceof CsvError) throw new ImportError([`${file}: is not CSV: ${error.message}`]);
    if (error instanceof Error && "code" in error)
      throw new ImportError([`${file}: ${unreadable(error.code)}`]);
    throw error;
  }
}
