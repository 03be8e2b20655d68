import { existsSync } from "node:fs";
import { basename, join } from "node:path";
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
import { geoJson, polygonsOf } from "./area.ts";
import { bbox, polygonAround } from "./box.ts";
import { cityModel } from "./city-model.ts";
import { configuredDensities } from "./configured.ts";
import { drawnCity } from "./drawn-city.ts";
import type { ImportedExtent } from "./extent.ts";
import { readPlaces, timeZoneOf } from "./gazetteer.ts";
import { datesBefore } from "./generate-density.ts";
import { geoNamesModel } from "./geonames-model.ts";
import { importDensity } from "./import-density.ts";
import { boundsOf, modelDays } from "./modelled-days.ts";

/** The model for folders without one: that of the demo data. */
const demoModel = fileURLToPath(new URL(`../../demo/${densityFiles.model}`, import.meta.url));

/** A covered area, and perhaps the city in it with what its numbers were made from; otherwise the places of GeoNames. */
const modelSchema = z
  .strictObject({
    bbox: bbox.optional(),
    area: geoJson.optional(),
    city: drawnCity.optional(),
    sources: z.array(provenance).min(1).optional(),
  })
  .refine(({ bbox, area }) => (bbox === undefined) !== (area === undefined), {
    path: ["bbox"],
    error: "must be given, or else an area",
  })
  .refine(({ city, sources }) => (city === undefined) === (sources === undefined), {
    path: ["sources"],
    error: "must be given with a city, and only then",
  });

/** What `density-model.json` says. */
export type DensityModel = z.input<typeof modelSchema>;

/**
 * Stores the typical week of a data folder, replacing any stored one: from the counts in its files, otherwise
 * generated for the area of its model, otherwise for that of the demo data.
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
const geoNames = {
  source: "A model, nobody was counted: people spread by formulas around the places of GeoNames",
  licence: "CC-BY-4.0",
};

/** Finer cells would be more than a demo needs, and coarser ones larger than a city. */
const [coarsestModelled, finestModelled] = [5, 8];

/** The precision of a model's cells. */
export function modelledPrecision(): number {
  const finest = configuredDensities().precisions.at(-1) ?? finestModelled;
  return Math.max(coarsestModelled, Math.min(finestModelled, finest));
}

async function storeModel(path: string): Promise<ImportedExtent> {
  const { bbox: box, area, city, sources = [geoNames] } = await readJsonAs(modelSchema, path);
  const ofArea = area === undefined ? [] : polygonsOf(area, basename(path));
  const polygons = box === undefined ? ofArea : [polygonAround(box)];
  const timeZone = city?.timeZone ?? timeZoneOf(await readPlaces(), boundsOf(polygons));
  const precision = modelledPrecision();
  const calendar = { timeZone, holidays: [] };
  const storage = {
    kind: "typical",
    isRecounted: true,
    calendar,
    replacesTimeZone: true,
    ...configuredDensities(),
  } as const;
  const model = city === undefined ? geoNamesModel : cityModel(city);
  let covered: Box | undefined;
  let outline: Outline | undefined;
  for (const day of modelDays(polygons, { precision, dates: week, model })) {
    await storeDay(day, storage);
    covered = coveredBox(day.coverage, precision, covered);
    outline ??= coveredOutline(day.coverage, precision);
  }
  // What is added last is listed first.
  for (const provenance of sources.toReversed()) {
    await addToDataSet({ coverage: covered, outline, provenance });
  }
  return { box: boundsOf(polygons), precision, isTypical: true };
}
