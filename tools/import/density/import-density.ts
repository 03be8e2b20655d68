import { cellOf, gridOf } from "../../../functions/population-density/cover/geohash.ts";
import { type CoveredArea, coverageAt } from "../../../functions/population-density/import/coverage.ts";
import {
  type DaysImported,
  type ImportOptions,
  importDays,
  rulesOf,
} from "../../../functions/population-density/import/import-days.ts";
import { outsideCoverage } from "../../../functions/population-density/import/sort/day-sort.ts";
import { withSortedDays } from "../../../functions/population-density/import/sort/sorted-days.ts";
import { ImportError } from "../../../shared/import/import-error.ts";
import { importedFile } from "../imported-file.ts";
import { tellWait } from "../table-lease.ts";
import { type OnRemark, readArea } from "./area.ts";
import { countedHoursOf, type ImportedExtent } from "./extent.ts";
import { Reading, type WantedRows } from "./reading.ts";

/** An import of files of counted people. */
export interface DensityImport extends ImportOptions, WantedRows {
  /** Path of a GeoJSON file as `readArea` reads it; without it those cells are covered that any row names. */
  readonly coverage?: string | undefined;
  readonly onRemark?: OnRemark | undefined;
}

/** The result of an import. */
export interface DensityImported extends Omit<DaysImported, "box"> {
  readonly rows: number;
  /** Absent if nothing was stored. */
  readonly extent?: ImportedExtent;
}

/**
 * Imports files of counted people. Nothing is stored before every row of every file is valid and every day is
 * compatible with what is published of it. An interrupted import is simply repeated.
 * @throws {ImportError} naming what is refused; what `importDays` throws.
 */
export async function importDensity(wanted: DensityImport): Promise<DensityImported> {
  const { typical, format } = wanted;
  const area = wanted.coverage === undefined ? undefined : await readArea(wanted.coverage, wanted.onRemark);
  const coverage = wanted.coverage === undefined ? undefined : await importedFile(wanted.coverage);
  const reading = new Reading(wanted);
  const rules = await rulesOf(wanted);
  const sorting = {
    problems: reading.problems,
    coverageAt: area && ((precision: number) => coverageAt(area, precision)),
    isTypical: typical,
    now: typical ? undefined : Date.now(),
    threshold: wanted.threshold,
  };
  try {
    return await withSortedDays(reading.batches(), sorting, async (days) => {
      const source = { files: reading.imported(), coverage, format };
      const { box, ...imported } = await importDays(
        days,
        rules,
        source,
        (date) => reading.tell(date),
        tellWait,
      );
      const last = days.at(-1);
      if (last === undefined || box === undefined) return { rows: reading.rows, ...imported };
      const newest = await countedHoursOf(last);
      const extent = { box, precision: last.precision, isTypical: typical, newest };
      return { rows: reading.rows, ...imported, extent };
    });
  } catch (error) {
    const isOutside = error instanceof ImportError && error.message.includes(outsideCoverage);
    if (area === undefined || !isOutside || !isInsideSwapped(reading.beginning, area)) throw error;
    throw new ImportError([
      error.message,
      `${area.file}: the rows are inside with latitude and longitude the other way round: swapped?`,
    ]);
  }
}

/** Whether the centre of the first cell that a text names would be in the area if that had latitudes as longitudes. */
function isInsideSwapped(beginning: string, { polygons }: CoveredArea): boolean {
  const [, geohash] = firstGeohash.exec(beginning) ?? [];
  if (geohash === undefined) return false;
  const { cellHeight, cellWidth } = gridOf(geohash.length);
  const { row, column } = cellOf(geohash);
  const [latitude, longitude] = [(row + 0.5) * cellHeight - 90, (column + 0.5) * cellWidth - 180];
  const holds = (degrees: Float64Array, degree: number) =>
    degree >= Math.min(...degrees) && degree <= Math.max(...degrees);
  return polygons.some(
    ({ latitudes, longitudes }) => holds(longitudes, latitude) && holds(latitudes, longitude),
  );
}

/** The first geohash in rows of CSV or members of NDJSON. */
const firstGeohash = /(?:^|\n|"geohash":\s*")([0-9b-hjkmnp-z]{2,12})[",]/;
