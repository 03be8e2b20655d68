import { open } from "node:fs/promises";
import { availableParallelism } from "node:os";
import type { Box } from "../../../functions/population-density/cover/box.ts";
import { cellOf, gridOf } from "../../../functions/population-density/cover/geohash.ts";
import type { Outline } from "../../../functions/population-density/cover/outline.ts";
import { type CoveredArea, coverageAt } from "../../../functions/population-density/import/coverage.ts";
import { coveredBox } from "../../../functions/population-density/import/covered-box.ts";
import { coveredOutline } from "../../../functions/population-density/import/covered-outline.ts";
import {
  type DatedFinding,
  type DayToJudge,
  type JudgedDayOfImport,
  judgeDays,
} from "../../../functions/population-density/import/judge/judge-import.ts";
import { figuresOfParts } from "../../../functions/population-density/import/judge/part-figures.ts";
import {
  defaultThresholds,
  type JudgementThresholds,
} from "../../../functions/population-density/import/judge/thresholds.ts";
import { partsOfDay } from "../../../functions/population-density/import/publish/day-parts.ts";
import {
  checkTypicalDay,
  type DayStorage,
} from "../../../functions/population-density/import/publish/day-storage.ts";
import { checkDay, storeDay } from "../../../functions/population-density/import/publish/store-days.ts";
import { storeFigures } from "../../../functions/population-density/import/publish/store-figures.ts";
import { rowsOf } from "../../../functions/population-density/import/rows/read-rows.ts";
import type { RowBatch } from "../../../functions/population-density/import/rows/row-batch.ts";
import { outsideCoverage } from "../../../functions/population-density/import/sort/day-sort.ts";
import { sortedDays } from "../../../functions/population-density/import/sort/sorted-days.ts";
import { PartCoverages } from "../../../functions/population-density/import/store/coverage-store.ts";
import {
  excludedDays,
  recordExclusion,
} from "../../../functions/population-density/import/store/exclusion-store.ts";
import { readFigures } from "../../../functions/population-density/import/store/figure-store.ts";
import {
  beginEntry,
  type DayOfImport,
  endEntry,
  type ImportOptions,
} from "../../../functions/population-density/import/store/journal-store.ts";
import { checkParts } from "../../../functions/population-density/import/store/part-store.ts";
import { checkShare } from "../../../functions/population-density/privacy/market-share.ts";
import { weekdayOf } from "../../../functions/population-density/privacy/typical-week.ts";
import type { Provenance } from "../../../functions/population-density/tiles/data-set.ts";
import { addToDataSet, calendarWith } from "../../../functions/population-density/tiles/data-set-store.ts";
import type { FindingCode } from "../../../functions/population-density/tiles/findings.ts";
import type { ImportedDay } from "../../../functions/population-density/tiles/forecast-error.ts";
import {
  type CalendarChange,
  changedCalendar,
  type TypicalCalendar,
  utcCalendar,
} from "../../../functions/population-density/tiles/typical-calendar.ts";
import { ImportError } from "../../../shared/import/import-error.ts";
import { Problems } from "../../../shared/import/problems.ts";
import { isFileError } from "../../../shared/import/unreadable.ts";
import { statsOf } from "../file-stats.ts";
import { FileHash, importedFile } from "../imported-file.ts";
import { type OnRemark, readArea } from "./area.ts";
import { countedHoursOf, type ImportedExtent } from "./extent.ts";
import { startParserThreads } from "./parser-threads.ts";

/** An import of files of counted people. */
export interface DensityImport {
  /**
   * Paths of files as `rowsOf` reads them, and as problems name them; together they hold everything about the hours
   * they name.
   */
  readonly files: readonly string[];
  /** Path of a GeoJSON file as `readArea` reads it; without it those cells are covered that any row names. */
  readonly coverage?: string | undefined;
  /** Which share of all people is counted, above 0 and at most 1; everybody if absent. */
  readonly marketShare?: number | undefined;
  /** Whether the days are stored as typical weekdays and not as dates. */
  readonly typical: boolean;
  /** Whether typical weekdays were counted again: earlier counts are discarded. See `DayStorage`. */
  readonly isRecounted?: boolean | undefined;
  /** For callers to read. */
  readonly provenance?: Provenance | undefined;
  /**
   * What typical weekdays follow from now on, as far as it differs from what they have followed. Of an import that is
   * made again: what they followed then, UTC if absent.
   */
  readonly calendar?: CalendarChange | undefined;
  /** Supported lengths of geohashes. */
  readonly precisions: readonly number[];
  /** K: cells with fewer people who were really counted are suppressed. */
  readonly threshold: number;
  /** How many threads parse in addition to this one; if absent, as many as are worth starting for the files. */
  readonly threads?: number | undefined;
  /** Checks everything and stores nothing. */
  readonly isDryRun?: boolean | undefined;
  /** Codes of critical findings that do not refuse it. */
  readonly accepted?: readonly FindingCode[] | undefined;
  /** The limits of warnings and refusals; the defaults if absent. */
  readonly thresholds?: JudgementThresholds | undefined;
  /** Whether its days stay out of typical weekdays. */
  readonly isExcluded?: boolean | undefined;
  /** Makes an import again that was made before. Days keep the parts that they have, and the journal stays as it is. */
  readonly replay?: ReplayedImport | undefined;
  readonly onProgress?: ((progress: DensityProgress) => void) | undefined;
  readonly onRemark?: OnRemark | undefined;
}

/** An import of the journal. */
interface ReplayedImport {
  readonly number: number;
  /** Its days as it was made. */
  readonly days: ReadonlyMap<string, DayOfImport>;
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
 * @throws {ImportError} naming what is refused; what `storeDay` throws.
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
  const { files, marketShare = 1, precisions, threshold, onProgress, replay } = wanted;
  checkShare(marketShare);
  await checkParts();
  const problems = new Problems(files);
  const partsBefore = replay?.days;
  const calendar =
    replay === undefined
      ? await calendarWith(wanted.calendar)
      : changedCalendar(utcCalendar, wanted.calendar);
  const storage: DayStorage = {
    calendar,
    replacesTimeZone: wanted.calendar?.replacesTimeZone,
    kind: wanted.typical ? "typical" : "observed",
    isRecounted: wanted.isRecounted,
    precisions,
    threshold,
    marketShare,
    coverages: new PartCoverages(),
    replay: replay?.number,
  };
  const judge = async (found: readonly DayToJudge[]) =>
    await judgeDays(found, {
      calendar,
      thresholds: wanted.thresholds ?? defaultThresholds,
      accepted: wanted.accepted ?? [],
      excluded: wanted.typical ? new Set() : await excludedDays(replay?.number),
      readFigures: wanted.typical ? async () => [] : readFigures,
      now: Date.now(),
      foundBefore: replay?.days,
    });
  let judged: readonly JudgedDayOfImport[] = [];
  const total = { rows: 0, items: 0, changed: 0 };
  const allBytes = bytesOf(files);
  let bytes = 0;
  const hashes = files.map((path) => new FileHash(path));
  const onBytes = (more: Uint8Array, file: number) => {
    hashes[file]?.add(more);
    bytes += more.length;
    onProgress?.({ bytes, allBytes });
  };
  async function* countedRows(): AsyncGenerator<RowBatch> {
    const threads = wanted.threads ?? threadsWorth(allBytes);
    const parser = threads > 0 ? startParserThreads(threads) : undefined;
    try {
      for await (const batch of rowsOf(files, { problems, onBytes, parser })) {
        total.rows += batch.to - batch.from;
        yield batch;
      }
    } finally {
      await parser?.close();
    }
  }
  const days = sortedDays(countedRows(), {
    problems,
    coverageAt: area && ((precision) => coverageAt(area, precision)),
    isTypical: wanted.typical,
    now: wanted.typical ? undefined : Date.now(),
    threshold,
    checkDays: async (sorted) => {
      const found: DayToJudge[] = [];
      for (const day of sorted) {
        if (precisions.every((precision) => precision > day.precision)) {
          throw new ImportError([
            `geohashes of ${day.precision} characters are shorter than every supported precision`,
          ]);
        }
        if (wanted.typical) checkTypicalDay(day.date, calendar);
        const { division } = await checkDay(day, {
          ...storage,
          partsBefore: partsOfDay(day.date, partsBefore),
        });
        found.push({
          date: day.date,
          rows: day.sums.rows,
          parts: await figuresOfParts(day, division, storage),
        });
      }
      judged = await judge(found);
    },
  });
  const recounted = new Set<number>();
  const compared: ImportedDay[] = [];
  let box: Box | undefined;
  let outline: Outline | undefined;
  let newest = "";
  let extent: ImportedExtent | undefined;
  let importNumber: number | undefined;
  for await (const day of days) {
    if (wanted.isDryRun === true) continue;
    onProgress?.({ bytes, allBytes, date: day.date });
    if (replay === undefined && importNumber === undefined) {
      const read = hashes.map((hash) => hash.end());
      if (wanted.isExcluded === true) {
        for (const { date } of judged) await recordExclusion(date, true);
      }
      importNumber = await beginEntry(await optionsOf(wanted, calendar), read);
    }
    // Two dates may have hours of one weekday: the second one must not forget the first.
    const weekday = weekdayOf(day.date);
    const isRecounted = wanted.isRecounted === true && !recounted.has(weekday);
    recounted.add(weekday);
    const before = partsOfDay(day.date, partsBefore);
    const ofDay = wanted.typical ? undefined : judged.find(({ date }) => date === day.date);
    const stored = await storeDay(day, {
      ...storage,
      isRecounted,
      importNumber,
      partsBefore: before,
      judged: ofDay && { figures: ofDay.figures, findings: ofDay.findings },
    });
    if (ofDay !== undefined) await storeFigures([ofDay], replay?.number);
    total.items += stored.items;
    total.changed += stored.changed;
    box = coveredBox(day.coverage, day.precision, box);
    compared.push({ ...stored.compared, ...(box === undefined ? {} : { box }) });
    // All days of an import cover the same cells.
    outline ??= coveredOutline(day.coverage, day.precision);
    newest = day.date > newest ? day.date : newest;
    if (box !== undefined) {
      const { precision } = day;
      extent = { box, precision, isTypical: wanted.typical, newest: await countedHoursOf(day) };
    }
  }
  if (newest !== "") {
    const newestDay = wanted.typical ? undefined : newest;
    await addToDataSet({ coverage: box, outline, newestDay, provenance: wanted.provenance, compared });
  }
  if (importNumber !== undefined) await endEntry(importNumber);
  const findings = judged.flatMap(({ found }) => found);
  return { ...total, findings, ...(extent === undefined ? {} : { extent }) };
}

/** How an import is made, for the journal. */
async function optionsOf(wanted: DensityImport, calendar: TypicalCalendar): Promise<ImportOptions> {
  const { coverage, marketShare = 1, provenance, accepted = [] } = wanted;
  return {
    command: "density",
    typical: wanted.typical,
    isRecounted: wanted.isRecounted === true,
    marketShare,
    ...(coverage === undefined ? {} : { coverage: await importedFile(coverage) }),
    threshold: wanted.threshold,
    precisions: [...wanted.precisions],
    calendar,
    ...(accepted.length === 0 ? {} : { accepted: [...accepted] }),
    ...(provenance === undefined ? {} : { provenance }),
  };
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
