import { open } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { cellOf, gridOf } from "../../../functions/population-density/cover/geohash.ts";
import { type CoveredArea, coverageAt } from "../../../functions/population-density/import/coverage.ts";
import { coveredBox } from "../../../functions/population-density/import/covered-box.ts";
import { coveredOutline } from "../../../functions/population-density/import/covered-outline.ts";
import type {
  DatedFinding,
  DayToJudge,
  JudgedDayOfImport,
} from "../../../functions/population-density/import/judge/judge-import.ts";
import { figuresOfParts } from "../../../functions/population-density/import/judge/part-figures.ts";
import { type FoundDay, partsOfDay } from "../../../functions/population-density/import/publish/day-parts.ts";
import {
  checkTypicalDay,
  type DayStorage,
} from "../../../functions/population-density/import/publish/day-storage.ts";
import { Divisions } from "../../../functions/population-density/import/publish/divisions.ts";
import {
  beginImport,
  calendarOf,
  type DensityOrder,
  daysAsMade,
  endImport,
  judgedNumbers,
  judgeOrder,
  recountedDates,
  refuseCoarse,
  storageOf,
} from "../../../functions/population-density/import/publish/import-order.ts";
import {
  checkDay,
  storeCheckedDay,
} from "../../../functions/population-density/import/publish/store-days.ts";
import { storeFigures } from "../../../functions/population-density/import/publish/store-figures.ts";
import { rowsOf } from "../../../functions/population-density/import/rows/read-rows.ts";
import type { RowBatch } from "../../../functions/population-density/import/rows/row-batch.ts";
import {
  outsideCoverage,
  type SortedDay,
} from "../../../functions/population-density/import/sort/day-sort.ts";
import { withSortedRows } from "../../../functions/population-density/import/sort/sorted-days.ts";
import type {
  DayOfImport,
  ImportedFile,
} from "../../../functions/population-density/import/store/journal-store.ts";
import { checkParts } from "../../../functions/population-density/import/store/part-store.ts";
import { checkShare } from "../../../functions/population-density/privacy/market-share.ts";
import type { ImportedDay } from "../../../functions/population-density/tiles/forecast-error.ts";
import type { TypicalCalendar } from "../../../functions/population-density/tiles/typical-calendar.ts";
import { ImportError } from "../../../shared/import/import-error.ts";
import { Problems } from "../../../shared/import/problems.ts";
import { isFileError } from "../../../shared/import/unreadable.ts";
import { statsOf } from "../file-stats.ts";
import { FileHash, importedFile } from "../imported-file.ts";
import { tellWait } from "../table-lease.ts";
import { type OnRemark, readArea } from "./area.ts";
import { countedHoursOf, type ImportedExtent } from "./extent.ts";
import { startParserThreads } from "./parser-threads.ts";

/** An import of files of counted people. */
export interface DensityImport extends DensityOrder {
  /**
   * Paths of files as `rowsOf` reads them, and as problems name them; together they hold everything about the hours
   * they name.
   */
  readonly files: readonly string[];
  /** Path of a GeoJSON file as `readArea` reads it; without it those cells are covered that any row names. */
  readonly coverage?: string | undefined;
  /** How many threads parse in addition to this one; if absent, as many as are worth starting for the files. */
  readonly threads?: number | undefined;
  /** Checks everything and stores nothing. */
  readonly isDryRun?: boolean | undefined;
  readonly onProgress?: ((progress: DensityProgress) => void) | undefined;
  readonly onRemark?: OnRemark | undefined;
}

/** The progress of an import. */
interface DensityProgress {
  readonly bytes: number;
  readonly allBytes: number;
  /** The date that is being stored, once everything was read. */
  readonly date?: string;
}

/** The result of an import. */
export interface DensityImported {
  readonly rows: number;
  /** Items of the table that depend on the rows. */
  readonly items: number;
  /** Items that were written, because they were absent or different. */
  readonly changed: number;
  /** What is unusual about its days; critical ones were accepted. */
  readonly findings: readonly DatedFinding[];
  /** Absent if nothing was stored. */
  readonly extent?: ImportedExtent;
}

/**
 * Imports files of counted people. Nothing is stored before every row of every file is valid and every day is
 * compatible with what is published of it. An interrupted import is simply repeated.
 * @throws {ImportError} naming what is refused; what `storeCheckedDay` throws.
 */
export async function importDensity(wanted: DensityImport): Promise<DensityImported> {
  const area = wanted.coverage === undefined ? undefined : await readArea(wanted.coverage, wanted.onRemark);
  try {
    return await importRows(wanted, area);
  } catch (error) {
    const isOutside = error instanceof ImportError && error.message.includes(outsideCoverage);
    if (area === undefined || !isOutside || !(await isInsideSwapped(wanted.files, area))) throw error;
    throw new ImportError([
      error.message,
      `${area.file}: the rows are inside with latitude and longitude the other way round: swapped?`,
    ]);
  }
}

async function importRows(wanted: DensityImport, area: CoveredArea | undefined): Promise<DensityImported> {
  checkShare(wanted.marketShare ?? 1);
  await checkParts();
  const calendar = await calendarOf(wanted);
  const asMade = await daysAsMade(wanted);
  const reading = new Reading(wanted);
  const options = {
    problems: reading.problems,
    coverageAt: area && ((precision: number) => coverageAt(area, precision)),
    isTypical: wanted.typical,
    now: wanted.typical ? undefined : Date.now(),
    threshold: wanted.threshold,
  };
  return await withSortedRows(reading.batches(), options, async (sorted) => {
    const days = await checkDays(wanted, calendar, asMade, sorted.days());
    const findings = days.flatMap(({ judged }) => judged.found);
    const { rows } = reading;
    if (wanted.isDryRun === true) return { rows, items: 0, changed: 0, findings };
    return { rows, findings, ...(await storeDays(wanted, calendar, days, reading)) };
  });
}

/** Reads the rows of the files of an import. */
class Reading {
  readonly problems: Problems;
  rows = 0;
  readonly #wanted: DensityImport;
  readonly #hashes: readonly FileHash[];
  readonly #allBytes: number;
  #bytes = 0;

  constructor(wanted: DensityImport) {
    this.#wanted = wanted;
    this.problems = new Problems(wanted.files);
    this.#hashes = wanted.files.map((path) => new FileHash(path));
    this.#allBytes = bytesOf(wanted.files);
  }

  async *batches(): AsyncGenerator<RowBatch> {
    const { files, threads = threadsWorth(this.#allBytes) } = this.#wanted;
    const parser = threads > 0 ? startParserThreads(threads) : undefined;
    const onBytes = (bytes: Uint8Array, file: number) => {
      this.#hashes[file]?.add(bytes);
      this.#bytes += bytes.length;
      this.tell();
    };
    try {
      for await (const batch of rowsOf(files, { problems: this.problems, onBytes, parser })) {
        this.rows += batch.to - batch.from;
        yield batch;
      }
    } finally {
      await parser?.close();
    }
  }

  /** Tells how far the import is. @param date that is being stored. */
  tell(date?: string): void {
    const progress = { bytes: this.#bytes, allBytes: this.#allBytes };
    this.#wanted.onProgress?.(date === undefined ? progress : { ...progress, date });
  }

  /** The files as they were read; to be called once, after the last row. */
  files(): ImportedFile[] {
    return this.#hashes.map((hash) => hash.end());
  }
}

/** A day that an import may store. */
interface CheckedDay {
  readonly day: SortedDay;
  readonly storage: DayStorage;
  readonly found: FoundDay;
  readonly judged: JudgedDayOfImport;
}

/** Checks all days before the first one is stored: how each is divided, and whether it is unusual. */
async function checkDays(
  wanted: DensityImport,
  calendar: TypicalCalendar,
  asMade: ReadonlyMap<string, DayOfImport> | undefined,
  days: readonly SortedDay[],
): Promise<readonly CheckedDay[]> {
  const ofImport = { ...storageOf(wanted, calendar), divisions: new Divisions() };
  const recounted = recountedDates(
    wanted,
    days.map(({ date }) => date),
  );
  const found: Omit<CheckedDay, "judged">[] = [];
  const summed: DayToJudge[] = [];
  for (const day of days) {
    const { date, precision } = day;
    refuseCoarse(wanted, precision);
    if (wanted.typical) checkTypicalDay(date, calendar);
    const partsBefore = partsOfDay(date, asMade);
    // What is published of a weekday that is counted again is discarded once, by the first of its dates.
    const checked = await checkDay(day, { ...ofImport, isRecounted: wanted.isRecounted, partsBefore });
    const storage = { ...ofImport, isRecounted: recounted.has(date), partsBefore };
    found.push({ day, storage, found: checked });
    const parts = await figuresOfParts(day, checked.division, ofImport);
    summed.push({ date, rows: day.sums.rows, parts });
  }
  const judged = await judgeOrder(wanted, calendar, summed, asMade);
  return found.map((each, index) => ({ ...each, judged: judged[index] as JudgedDayOfImport }));
}

/** Stores one whole day after the other, so that an import that is killed leaves whole days. */
async function storeDays(
  wanted: DensityImport,
  calendar: TypicalCalendar,
  days: readonly CheckedDay[],
  reading: Reading,
): Promise<Pick<DensityImported, "changed" | "extent" | "items">> {
  const last = days.at(-1)?.day;
  if (last === undefined) return { items: 0, changed: 0 };
  const { coverage, precision } = last;
  const source = {
    coverage: wanted.coverage === undefined ? undefined : await importedFile(wanted.coverage),
  };
  const dates = days.map(({ day }) => day.date);
  const importNumber = await beginImport(wanted, calendar, dates, reading.files(), source);
  // All days of an import cover the same cells.
  const box = coveredBox(coverage, precision);
  const total = { items: 0, changed: 0 };
  const compared: ImportedDay[] = [];
  for (const { day, storage, found, judged } of days) {
    reading.tell(day.date);
    const record = { importNumber, judged: judgedNumbers(wanted, judged), onWait: tellWait };
    const stored = await storeCheckedDay(day, { ...storage, ...record }, found);
    await storeFigures(wanted, [judged]);
    total.items += stored.items;
    total.changed += stored.changed;
    compared.push({ ...stored.compared, ...(box === undefined ? {} : { box }) });
  }
  const outline = coveredOutline(coverage, precision);
  await endImport(wanted, dates, { coverage: box, outline, compared }, importNumber);
  if (box === undefined) return total;
  const newest = await countedHoursOf(last);
  return { ...total, extent: { box, precision, isTypical: wanted.typical, newest } };
}

/** Whether the first cell that a file names would be in the area if that had its latitudes as longitudes. */
async function isInsideSwapped([path = ""]: readonly string[], { polygons }: CoveredArea): Promise<boolean> {
  // A pipe was read already.
  const beginning = statsOf(path)?.isFile() ? await beginningOf(path) : "";
  const [, geohash] = firstGeohash.exec(beginning) ?? [];
  if (geohash === undefined) return false;
  const { cellHeight, cellWidth } = gridOf(geohash.length);
  const { row, column } = cellOf(geohash);
  const [latitude, longitude] = [row * cellHeight - 90, column * cellWidth - 180];
  const holds = (degrees: Float64Array, degree: number) =>
    degree >= Math.min(...degrees) && degree <= Math.max(...degrees);
  return polygons.some(
    ({ latitudes, longitudes }) => holds(longitudes, latitude) && holds(latitudes, longitude),
  );
}

/** The first 4 KiB of a file; nothing of one that can no longer be read. */
async function beginningOf(path: string): Promise<string> {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(4_096), 0, 4_096, 0);
      return buffer.toString("utf8", 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isFileError(error)) return "";
    throw error;
  }
}

/** The first geohash in rows of CSV or members of NDJSON. */
const firstGeohash = /(?:^|\n|"geohash":\s*")([0-9b-hjkmnp-z]{2,12})[",]/;

/** Parsing more takes longer than starting threads. */
const bytesWorthThreads = 32 * 2 ** 20;

/** More threads parse faster than this one sorts. */
const maxThreads = 2;

function threadsWorth(bytes: number): number {
  const threads = Math.min(availableParallelism(), maxThreads);
  return threads > 1 && bytes > bytesWorthThreads ? threads : 0;
}

/** Size of the files that can be found; the others are refused when they are read. */
function bytesOf(files: readonly string[]): number {
  return files.reduce((sum, path) => sum + (statsOf(path)?.size ?? 0), 0);
}
