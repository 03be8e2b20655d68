import { basename } from "node:path";
import type { Box } from "../../../../functions/population-density/cover/box.ts";
import type { Tile } from "../../../../functions/population-density/cover/cover.ts";
import { countCells } from "../../../../functions/population-density/cover/cover.ts";
import type { Outline } from "../../../../functions/population-density/cover/outline.ts";
import { polygonOf } from "../../../../functions/population-density/cover/polygon.ts";
import { coveredBox } from "../../../../functions/population-density/import/covered-box.ts";
import { coveredOutline } from "../../../../functions/population-density/import/covered-outline.ts";
import {
  type PartsBefore,
  partsOfDay,
} from "../../../../functions/population-density/import/publish/day-division.ts";
import { checkDay, storeDay } from "../../../../functions/population-density/import/publish/store-days.ts";
import {
  beginEntry,
  endEntry,
  type ImportOptions,
} from "../../../../functions/population-density/import/store/journal-store.ts";
import { checkParts } from "../../../../functions/population-density/import/store/part-store.ts";
import type { Provenance, Publishing } from "../../../../functions/population-density/tiles/data-set.ts";
import { addToDataSet } from "../../../../functions/population-density/tiles/data-set-store.ts";
import { ImportError } from "../../../../shared/import/import-error.ts";
import { importedFile } from "../../imported-file.ts";
import { cornersOf } from "../box.ts";
import { configuredDensities } from "../configured.ts";
import type { ImportedExtent } from "../extent.ts";
import { datesBefore } from "../generate-density.ts";
import { type Layer, modelDays } from "../modelled-days.ts";
import { h3CellsOf, pointsOf } from "./csv-rows.ts";
import { type Curve, namedCurves } from "./curve.ts";
import { PeopleByCell } from "./people-by-cell.ts";
import type { PopulationFile } from "./places.ts";
import { pixelsOf } from "./raster.ts";

/** What a file of a population may be. */
type PopulationKind = "points" | "h3" | "geotiff";

/** An import of how many people live where, to be densities by hour. */
export interface PopulationImport {
  readonly file: string;
  readonly kind: PopulationKind;
  /** The covered area. */
  readonly box: Box;
  readonly curve: Curve;
  /** Length of the geohashes that people are counted in. */
  readonly precision: number;
  /** For callers to read. */
  readonly provenance: Provenance;
  readonly isDryRun: boolean;
  /** Of the curve, for the journal: its name, or the path of its file. */
  readonly curveName: string;
  /** Supported lengths of geohashes, and K; those of the environment if absent. */
  readonly publishing?: Publishing | undefined;
  /** Makes an import again that was made before: see `DensityImport`. */
  readonly partsBefore?: PartsBefore | undefined;
  readonly onProgress?: (progress: { readonly read: number; readonly day?: string }) => void;
}

/** The result of an import. */
export interface PopulationImported {
  /** In the box. */
  readonly people: number;
  /** Of the file that are elsewhere. */
  readonly peopleOutside: number;
  readonly items: number;
  readonly changed: number;
  /** Absent if nothing was stored. */
  readonly extent?: ImportedExtent;
}

/** More are not kept in memory: about 70,000 square kilometres at precision 7. */
const maxCells = 2 ** 22;

/** Any week from Monday to Sunday: typical days have no date. */
const week = datesBefore("2026-01-12", 1);

/**
 * Spreads the people of a public grid over the cells of a box, and stores them as a typical week by a curve.
 * @throws {ImportError} for a box that is too large, for a bad file, and for one with nobody in the box.
 */
export async function importPopulation(wanted: PopulationImport): Promise<PopulationImported> {
  const { box, precision, curve, isDryRun, onProgress, partsBefore } = wanted;
  requireFewCells(box, precision);
  await checkParts();
  const { cells, read } = await readPopulation(wanted);
  const layersOf = (tile: Tile): Layer[] => [{ people: cells.inTile(tile), shareAt: curve }];
  const publishing = wanted.publishing ?? configuredDensities();
  const storage = { kind: "typical", isRecounted: true, ...publishing } as const;
  let importNumber: number | undefined;
  const total = { items: 0, changed: 0 };
  let covered: Box | undefined;
  let outline: Outline | undefined;
  for (const day of modelDays(box, { precision, dates: week, model: async () => layersOf })) {
    onProgress?.({ read, day: day.date });
    const ofDay = { ...storage, partsBefore: partsOfDay(day.date, partsBefore) };
    await checkDay(day, ofDay);
    if (isDryRun) continue;
    if (partsBefore === undefined && importNumber === undefined) {
      importNumber = await beginEntry(await optionsOf(wanted, publishing), [await importedFile(wanted.file)]);
    }
    const { items, changed } = await storeDay(day, { ...ofDay, importNumber });
    total.items += items;
    total.changed += changed;
    covered = coveredBox(day.coverage, precision, covered);
    outline ??= coveredOutline(day.coverage, precision);
  }
  if (!isDryRun) await addToDataSet({ coverage: covered, outline, provenance: wanted.provenance });
  if (importNumber !== undefined) await endEntry(importNumber);
  return {
    ...total,
    people: cells.people,
    peopleOutside: cells.peopleOutside,
    ...(covered === undefined ? {} : { extent: { box: covered, precision, isTypical: true } }),
  };
}

/** How an import is made, for the journal. */
async function optionsOf(wanted: PopulationImport, publishing: Publishing): Promise<ImportOptions> {
  const { kind, box, curveName, precision, provenance } = wanted;
  return {
    command: "population",
    format: kind,
    box,
    curve: namedCurves.includes(curveName) ? curveName : await importedFile(curveName),
    precision,
    threshold: publishing.threshold,
    precisions: [...publishing.precisions],
    provenance,
  };
}

function requireFewCells(box: Box, precision: number): void {
  const polygon = polygonOf(cornersOf(box));
  if (polygon === undefined || box.west > box.east) {
    throw new ImportError(["--bbox: must have an area, and not cross the antimeridian"]);
  }
  if (countCells(polygon, precision, maxCells) > maxCells) {
    throw new ImportError([
      `--bbox: has more than ${maxCells} cells of precision ${precision}: give a smaller one, or a lower --precision`,
    ]);
  }
}

/** Reads a file's people into the cells of the box. */
async function readPopulation({ file, kind, box, precision, onProgress }: PopulationImport) {
  const readers: Readonly<Record<PopulationKind, () => PopulationFile>> = {
    points: () => pointsOf(file),
    h3: () => h3CellsOf(file),
    geotiff: () => pixelsOf(file, box),
  };
  const cells = new PeopleByCell(box, precision);
  let read = 0;
  for await (const places of readers[kind]()) {
    for (const place of places) {
      cells.add(place);
      read += "latitudes" in place ? place.people.length : 1;
    }
    onProgress?.({ read });
  }
  if (cells.people === 0) {
    const hint = cells.isPerhapsSwapped
      ? "; with latitude and longitude swapped there would be: swapped?"
      : "";
    throw new ImportError([`${basename(file)}: has nobody in --bbox west,south,east,north${hint}`]);
  }
  return { cells, read };
}
