import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import type { Box } from "../../../functions/population-density/cover/box.ts";
import type { Outline } from "../../../functions/population-density/cover/outline.ts";
import { coveredBox } from "../../../functions/population-density/import/covered-box.ts";
import { coveredOutline } from "../../../functions/population-density/import/covered-outline.ts";
import { storeDay } from "../../../functions/population-density/import/publish/store-days.ts";
import { provenance } from "../../../functions/population-density/tiles/data-set.ts";
import { addToDataSet } from "../../../functions/population-density/tiles/data-set-store.ts";
import { densityFiles } from "../data-files.ts";
import { readJsonAs } from "../json-file.ts";
import { bbox } from "./box.ts";
import { cityModel } from "./city-model.ts";
import { configuredDensities } from "./configured.ts";
import { drawnCity } from "./drawn-city.ts";
import type { ImportedExtent } from "./extent.ts";
import { datesBefore } from "./generate-density.ts";
import { geoNamesModel } from "./geonames-model.ts";
import { importDensity } from "./import-density.ts";
import { modelDays } from "./modelled-days.ts";

/** The model for folders without one: that of the demo data. */
const demoModel = fileURLToPath(new URL(`../../demo/${densityFiles.model}`, import.meta.url));

/** A box, and perhaps the city in it with what its numbers were made from; otherwise the cities of GeoNames. */
const modelSchema = z
  .strictObject({ bbox, city: drawnCity.optional(), sources: z.array(provenance).min(1).optional() })
  .refine(({ city, sources }) => (city === undefined) === (sources === undefined), {
    path: ["sources"],
    error: "must be given with a city, and only then",
  });

/**
 * Stores the typical week of a data folder, replacing any stored one: from the counts in its files, otherwise
 * generated for the box of its model, otherwise for the box of the demo data.
 * @throws {ImportError} when a file is refused.
 */
export async function importDensityFolder(folder: string): Promise<void> {
  const files = densityFiles.counted.map((file) => join(folder, file)).filter((path) => existsSync(path));
  const [coverage, ownModel] = [join(folder, densityFiles.coverage), join(folder, densityFiles.model)];
  if (files.length === 0) {
    await storeModel(existsSync(ownModel) ? ownModel : demoModel);
    return;
  }
  await importDensity({
    files,
    coverage: existsSync(coverage) ? coverage : undefined,
    typical: true,
    isRecounted: true,
    ...configuredDensities(),
  });
}

/** Stores the typical week of the demo city, replacing any stored one. */
export async function importDemoCity(): Promise<ImportedExtent> {
  return await storeModel(demoModel);
}

/** Any week from Monday to Sunday: typical days have no date. */
const week = datesBefore("2026-01-12", 1);

/** https://www.geonames.org/export/ */
const geoNames = { source: "A model of the cities of GeoNames: nobody was counted", licence: "CC-BY-4.0" };

/** Finer cells would be more than a demo needs, and coarser ones larger than a city. */
const [coarsestModelled, finestModelled] = [5, 8];

async function storeModel(path: string): Promise<ImportedExtent> {
  const { bbox: box, city, sources = [geoNames] } = await readJsonAs(modelSchema, path);
  const calendar = city === undefined ? undefined : { timeZone: city.timeZone, holidays: [] };
  const ofCity = { calendar, replacesTimeZone: true } as const;
  const storage = { kind: "typical", isRecounted: true, ...ofCity, ...configuredDensities() } as const;
  const finest = storage.precisions.at(-1) ?? finestModelled;
  const precision = Math.max(coarsestModelled, Math.min(finestModelled, finest));
  const model = city === undefined ? geoNamesModel : cityModel(city);
  let covered: Box | undefined;
  let outline: Outline | undefined;
  for (const day of modelDays(box, { precision, dates: week, model })) {
    await storeDay(day, storage);
    covered = coveredBox(day.coverage, precision, covered);
    outline ??= coveredOutline(day.coverage, precision);
  }
  // What is added last is listed first.
  for (const provenance of sources.toReversed()) {
    await addToDataSet({ coverage: covered, outline, provenance });
  }
  return { box, precision, isTypical: true };
}
