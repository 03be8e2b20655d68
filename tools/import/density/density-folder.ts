import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import type { Box } from "../../../functions/population-density/cover/box.ts";
import { coveredBox } from "../../../functions/population-density/import/covered-box.ts";
import { storeDay } from "../../../functions/population-density/import/store-days.ts";
import { addToDataSet } from "../../../functions/population-density/tiles/data-set-store.ts";
import { readJsonAs } from "../json-file.ts";
import { bbox } from "./box.ts";
import { configuredDensities } from "./configured.ts";
import { datesBefore } from "./generate-density.ts";
import { geoNamesModel } from "./geonames-model.ts";
import { importDensity } from "./import-density.ts";
import { modelDays } from "./modelled-days.ts";

const countedFiles = ["density.csv", "density.ndjson"];
const modelFile = "density-model.json";
const coverageFile = "density-coverage.geojson";

/** The density files of a data folder. */
export const densityFiles: readonly string[] = [...countedFiles, modelFile];

/** The model for folders without one: that of the demo data. */
const demoModel = fileURLToPath(new URL(`../../demo/${modelFile}`, import.meta.url));

const model = z.strictObject({ bbox });

/**
 * Stores the typical week of a data folder, in place of any earlier one: from the counts in its files, otherwise
 * generated for the box of its model, otherwise for the box of the demo data.
 * @throws {ImportError} when a file is refused.
 */
export async function importDensityFolder(folder: string): Promise<void> {
  const files = countedFiles.map((file) => join(folder, file)).filter((path) => existsSync(path));
  const [coverage, ownModel] = [join(folder, coverageFile), join(folder, modelFile)];
  if (files.length === 0) return await storeModel(existsSync(ownModel) ? ownModel : demoModel);
  await importDensity({
    files,
    coverage: existsSync(coverage) ? coverage : undefined,
    typical: true,
    isRecounted: true,
    ...configuredDensities(),
  });
}

/** Any week from Monday to Sunday: typical days have no date. */
const week = datesBefore("2026-01-12", 1);

/** https://www.geonames.org/export/ */
const modelled = { source: "A model of the cities of GeoNames: nobody was counted", licence: "CC-BY-4.0" };

/** Finer cells would be more than a demo needs. */
const finestModelled = 8;

async function storeModel(path: string): Promise<void> {
  const { bbox: box } = await readJsonAs(model, path);
  const storage = { kind: "typical", isRecounted: true, ...configuredDensities() } as const;
  const precision = Math.max(2, Math.min(finestModelled, ...storage.precisions.slice(-1)));
  let covered: Box | undefined;
  for (const day of modelDays(box, { precision, dates: week, model: geoNamesModel })) {
    await storeDay(day, storage);
    covered = coveredBox(day.coverage, precision, covered);
  }
  await addToDataSet({ coverage: covered, provenance: modelled });
}
