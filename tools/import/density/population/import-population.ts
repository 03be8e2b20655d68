import { basename } from "node:path";
import type { Box } from "../../../../functions/population-density/cover/box.ts";
import type { Tile } from "../../../../functions/population-density/cover/cover.ts";
import { countCells } from "../../../../functions/population-density/cover/cover.ts";
import { suffixesOf } from "../../../../functions/population-density/cover/geohash.ts";
import type { Outline } from "../../../../functions/population-density/cover/outline.ts";
import { polygonOf } from "../../../../functions/population-density/cover/polygon.ts";
import { coveredBox } from "../../../../functions/population-density/import/covered-box.ts";
import { coveredOutline } from "../../../../functions/population-density/import/covered-outline.ts";
import { partsOfDay } from "../../../../functions/population-density/import/publish/day-parts.ts";
import { Divisions } from "../../../../functions/population-density/import/publish/divisions.ts";
import {
  checkDay,
  storeCheckedDay,
} from "../../../../functions/population-density/import/publish/store-days.ts";
import {
  beginEntry,
  type DayOfImport,
  type EntryOptions,
  endEntry,
} from "../../../../functions/population-density/import/store/journal-store.ts";
import { checkParts } from "../../../../functions/population-density/import/store/part-store.ts";
import { coverageOf } from "../../../../functions/population-density/privacy/parts.ts";
import { cellAreas } from "../../../../functions/population-density/privacy/tile-pyramid.ts";
import type { Provenance, Publishing } from "../../../../functions/population-density/tiles/data-set.ts";
import {
  addToDataSet,
  recordPublishing,
} from "../../../../functions/population-density/tiles/data-set-store.ts";
import { ImportError } from "../../../../shared/import/import-error.ts";
import { importedFile } from "../../imported-file.ts";
import { tellWait } from "../../table-lease.ts";
import { cornersOf, polygonAround } from "../box.ts";
import { configuredDensities } from "../configured.ts";
import type { ImportedExtent } from "../extent.ts";
import { datesBefore } from "../generate-density.ts";
import { coveredDays, coverOfAll, type Layer } from "../modelled-days.ts";
import type { NamedColumns } from "./columns.ts";
import { coverageLeft, parentCoverage } from "./coverage-left.ts";
import { CoveredCells } from "./covered-cells.ts";
import { crowdIn } from "./crowd.ts";
import { h3CellsOf, pointsOf } from "./csv-rows.ts";
import { type Curve, namedCurves } from "./curve.ts";
import { PeopleByCell } from "./people-by-cell.ts";
import type { PopulationFile } from "./places.ts";
import { pixelsOf } from "./raster.ts";

/** What a file of a population may be. */
type PopulationKind = "points" | "h3" | "geotiff";

/** What pixels without data mean. */
type NoData = "uncovered" | "nobody";

/** An import of how many people live where, to be densities by hour. */
export interface PopulationImport {
  readonly file: string;
  readonly kind: PopulationKind;
  /** What is read, and covered where the file has data. */
  readonly box: Box;
  /**
   * Whether a GeoTIFF's pixels without data cover cells as well, as nobody lives there. If absent, all of the box is
   * covered, as always by points and H3 cells: rows alone would tell where nobody lives.
   */
  readonly noData?: NoData | undefined;
  /** The names of a CSV's columns that have other names than usual. */
  readonly columns?: NamedColumns | undefined;
  readonly curve: Curve;
  /** Length of the geohashes that people are counted in. */
  readonly precision: number;
  /** For callers to read. */
  readonly provenance: Provenance;
  readonly isDryRun: boolean;
  /** Which curve it is, for the journal: its name, or the path of its file. */
  readonly curveName: string;
  /** Supported lengths of geohashes, and K; those of the environment if absent. */
  readonly publishing?: Publishing | undefined;
  /** The days of an import that is made again, as it was made. */
  readonly asMade?: ReadonlyMap<string, DayOfImport> | undefined;
  readonly onProgress?: (progress: { readonly read: number; readonly day?: string }) => void;
}

/** The result of an import. */
export interface PopulationImported {
  /** In the box. */
  readonly people: number;
  /** People of the file who are elsewhere. */
  readonly peopleOutside: number;
  /** How the file was understood, what is covered and where most people live; each in a line. */
  readonly remarks: readonly string[];
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
  const { box, precision, curve, isDryRun, onProgress, asMade } = wanted;
  const publishing = wanted.publishing ?? configuredDensities();
  requireFewCells(box, precision);
  requireStoredPrecision(precision, publishing);
  await checkParts();
  const { cells, cover, read, remarks } = await readPopulation(wanted);
  const layersOf = (tile: Tile): Layer[] => [{ people: cells.inTile(tile), shareAt: curve }];
  const left = asMade === undefined ? await remarksOnLeft(box, precision, publishing, cover) : [];
  const divisions = new Divisions();
  const storage = { kind: "typical", isRecounted: true, divisions, ...publishing } as const;
  let importNumber: number | undefined;
  const total = { items: 0, changed: 0 };
  let covered: Box | undefined;
  let outline: Outline | undefined;
  const days = coveredDays(cover, { precision, dates: week, layers: async () => layersOf });
  for (const day of days) {
    onProgress?.({ read, day: day.date });
    const ofDay = { ...storage, partsBefore: partsOfDay(day.date, asMade) };
    const found = await checkDay(day, ofDay);
    if (isDryRun) continue;
    await recordPublishing(ofDay, undefined, asMade !== undefined);
    if (asMade === undefined && importNumber === undefined) {
      importNumber = await beginEntry(await optionsOf(wanted, publishing), [await importedFile(wanted.file)]);
    }
    const { items, changed } = await storeCheckedDay(
      day,
      { ...ofDay, importNumber, onWait: tellWait },
      found,
    );
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
    remarks: [...remarks, ...left],
    ...(covered === undefined ? {} : { extent: { box: covered, precision, isTypical: true } }),
  };
}

/** What earlier imports have covered of the box and this one does not, at the finest precision that is stored. */
async function remarksOnLeft(
  box: Box,
  precision: number,
  { precisions }: Publishing,
  cover: readonly Tile[],
): Promise<string[]> {
  const stored = Math.max(...precisions.filter((each) => each <= precision));
  let coverage = new Map(cover.map(({ geohash, cells }) => [geohash, coverageOf(cells)]));
  for (let finer = precision; finer > stored; finer--) coverage = parentCoverage(coverage, finer);
  const squareKm = await coverageLeft(coverOfAll([polygonAround(box)], stored), stored, coverage);
  if (squareKm === 0) return [];
  const area = squareKm.toLocaleString("en", { maximumFractionDigits: 1 });
  return [
    `${area} km² in the box stay covered, as earlier imports left them: this one has no data there, and takes back nothing`,
  ];
}

/** How an import is made, for the journal. */
async function optionsOf(wanted: PopulationImport, publishing: Publishing): Promise<EntryOptions> {
  const { kind, box, noData, columns, curveName, precision, provenance } = wanted;
  return {
    command: "population",
    format: kind,
    box,
    ...(noData === undefined ? {} : { noData }),
    ...(columns === undefined ? {} : { columns }),
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

function requireStoredPrecision(precision: number, { precisions }: Publishing): void {
  if (precisions.every((each) => each > precision)) {
    throw new ImportError([
      `--precision: ${precision} is shorter than every supported precision (${precisions.join(", ")})`,
    ]);
  }
}

/** Reads a file's people into the cells of the box. */
async function readPopulation(wanted: PopulationImport) {
  const { file, kind, box, precision, noData, columns, onProgress } = wanted;
  const remarks: string[] = [];
  const onRemark = (remark: string) => {
    remarks.push(remark);
  };
  const readers: Readonly<Record<PopulationKind, () => PopulationFile>> = {
    points: () => pointsOf(file, columns),
    h3: () => h3CellsOf(file, columns),
    geotiff: () => pixelsOf(file, { box, isNoDataNobody: noData === "nobody", onRemark }),
  };
  const cells = new PeopleByCell(box, precision);
  const covered = noData === undefined ? undefined : new CoveredCells(box, precision);
  let read = 0;
  for await (const places of readers[kind]()) {
    for (const place of places) {
      const crowd = crowdIn(place);
      if (crowd !== undefined) throw new ImportError([`${basename(file)}: ${crowd}`]);
      cells.add(place);
      if ("latitudes" in place) covered?.add(place);
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
  const cover = covered?.tiles() ?? coverOfAll([polygonAround(box)], precision);
  return { cells, cover, read, remarks: [...remarks, remarkOn(cover, precision, cells)] };
}

/** How large the covered area is, and where most people live on a km². */
function remarkOn(cover: readonly Tile[], precision: number, people: PeopleByCell): string {
  const suffixes = suffixesOf(precision);
  let squareKm = 0;
  let densest = { geohash: "", density: 0 };
  for (const tile of cover) {
    const areas = cellAreas(tile.geohash, precision);
    for (const [index, here] of people.inTile(tile).entries()) {
      const cell = tile.cells[index] as number;
      const area = areas[cell] as number;
      squareKm += area;
      if (here / area > densest.density) {
        densest = { geohash: `${tile.geohash}${suffixes[cell]}`, density: here / area };
      }
    }
  }
  return (
    `covers ${squareKm.toLocaleString("en", { maximumFractionDigits: 1 })} km²; the largest density is ${Math.round(densest.density).toLocaleString("en")} people per km² in cell ` +
    densest.geohash
  );
}
