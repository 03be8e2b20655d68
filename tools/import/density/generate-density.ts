import type { Box } from "../../../functions/population-density/cover/box.ts";
import { dayMilliseconds, dayOf } from "../../../shared/calendar.ts";
import { writeOut } from "../../write-out.ts";
import { polygonAround, polygonOfBox } from "./box.ts";
import { csvOf } from "./counted-csv.ts";
import { geoNamesModel } from "./geonames-model.ts";
import { modelDays } from "./modelled-days.ts";

/** Densities to be made up. */
export interface DensityGeneration {
  readonly box: Box;
  /** `YYYY-MM-DD`, UTC, ascending. */
  readonly dates: readonly string[];
  /** Length of the geohashes. */
  readonly precision: number;
  /** Path of a `.csv`. The box is written next to it as the covered area, in a `.geojson` of the same name. */
  readonly out: string;
}

/**
 * Writes files for `importDensity` of a model of the cities in a box: always the same ones for the same box and dates.
 */
export async function generateDensity({ box, dates, precision, out }: DensityGeneration): Promise<void> {
  const days = modelDays([polygonAround(box)], { precision, dates, model: geoNamesModel });
  await writeOut(out, csvOf(days));
  await writeOut(coveragePathOf(out), `${JSON.stringify(polygonOfBox(box))}\n`);
}

/** The path of the covered area that belongs to rows. */
export function coveragePathOf(out: string): string {
  return out.replace(/\.csv$/, ".geojson");
}

/** The days of a number of weeks before a date, `YYYY-MM-DD` like them, ascending. */
export function datesBefore(until: string, weeks: number): string[] {
  const end = Date.parse(`${until}T00:00:00Z`);
  return Array.from({ length: 7 * weeks }, (_, index) =>
    dayOf(new Date(end - (7 * weeks - index) * dayMilliseconds)),
  );
}
