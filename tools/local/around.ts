import { basename } from "node:path";
import { type Box, boxOf as boxOfCell } from "../../functions/population-density/cover/box.ts";
import { countCells, geohashesOf } from "../../functions/population-density/cover/cover.ts";
import { gridOf } from "../../functions/population-density/cover/geohash.ts";
import type { Polygon } from "../../functions/population-density/cover/polygon.ts";
import { countryName, folded, isNameOf } from "../../shared/place-names.ts";
import { boxOf } from "../cli/options.ts";
import { geoJson, polygonsOf } from "../import/density/area.ts";
import { polygonAround } from "../import/density/box.ts";
import { type DensityModel, modelledPrecision } from "../import/density/density-folder.ts";
import { largestIn, type Place, readPlaces } from "../import/density/gazetteer.ts";
import { geoNamesModel } from "../import/density/geonames-model.ts";
import { kilometresPerDegree } from "../import/density/land.ts";
import { boundsOf, coverOfAll } from "../import/density/modelled-days.ts";
import { readJsonAs } from "../import/json-file.ts";
import { fromInvocationFolder } from "../invocation-folder.ts";
import type { CoveredPlace } from "./kept-state.ts";

/** Ground that a model covers instead of the demo's city. */
export interface Around extends CoveredPlace {
  /** What `density-model.json` has to say. */
  readonly model: string;
  /** What there is to say about it. */
  readonly notes: readonly string[];
}

/** More take longer to import than somebody waits for a start. */
const maxCells = 40_000;

/**
 * What `--around` names: a box (west,south,east,north), a GeoJSON file, or else a place of GeoNames.
 * @throws {Error} that says why it names nothing, or too much.
 */
export async function aroundOf(text: string): Promise<Around> {
  try {
    const places = await readPlaces();
    const named = await areaNamed(text, places);
    const precision = modelledPrecision();
    const cells = named.polygons.reduce((sum, polygon) => sum + countCells(polygon, precision), 0);
    const bounds = boundsOf(named.polygons);
    if (cells > maxCells) throw new Error(tooMany(cells, precision, middleOf(bounds)));
    const cover = coverOfAll(named.polygons, precision);
    const layersOf = await geoNamesModel(bounds, precision);
    const people = cover
      .flatMap(layersOf)
      .reduce((sum, layer) => layer.people.reduce((a, b) => a + b, sum), 0);
    return {
      name: named.name,
      model: JSON.stringify(named.model),
      at: nearestCell(geohashesOf(cover, precision), largestIn(places, bounds) ?? middleOf(bounds)),
      notes: people < 1 ? [...named.notes, nobody] : named.notes,
    };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new Error(`--around ${text}: ${error.message}`, { cause: error });
  }
}

const nobody =
  "The model has nobody here: GeoNames has places of 1,000 people and more, and none is near. Every cell is empty";

/** Says how many cells there are, and which size would do. */
function tooMany(cells: number, precision: number, { latitude }: Point): string {
  const { cellHeight, cellWidth } = gridOf(precision);
  const cell = cellHeight * cellWidth * Math.cos((latitude * Math.PI) / 180) * kilometresPerDegree ** 2;
  const side = Math.floor(Math.sqrt(maxCells * cell) * 0.98);
  const [has, limit] = [cells, maxCells].map((count) => count.toLocaleString("en"));
  return (
    `has ${has} cells with geohashes of ${precision} characters, and ${limit} can be covered: ` +
    `a box of ${side} × ${side} km fits there`
  );
}

interface NamedArea {
  readonly name: string;
  readonly polygons: readonly Polygon[];
  readonly model: DensityModel;
  readonly notes: readonly string[];
}

async function areaNamed(text: string, places: readonly Place[]): Promise<NamedArea> {
  if (/\.(geo)?json$/i.test(text)) {
    const path = fromInvocationFolder(text);
    const area = await readJsonAs(geoJson, path);
    return { name: path, polygons: polygonsOf(area, basename(path)), model: { area }, notes: [] };
  }
  const [, latitude, longitude] = /^(-?[\d.]+)\s*[,\s]\s*(-?[\d.]+)$/.exec(text.trim()) ?? [];
  if (latitude !== undefined && Math.abs(Number(latitude)) <= 90 && Math.abs(Number(longitude)) <= 180) {
    const at = { latitude: Number(latitude), longitude: Number(longitude) };
    return { name: text, ...ofBox(boxAt(at)), notes: [] };
  }
  if (/^[\d\s.,+-]+$/.test(text)) return { name: text, ...ofBox(boxOf(text)), notes: [] };
  const [largest, ...others] = placesNamed(text, places);
  return { name: titleOf(largest), ...ofBox(boxAt(largest)), notes: notesOn(largest, others) };
}

function ofBox(box: Box) {
  const { west, south, east, north } = box;
  return {
    polygons: [polygonAround(box)],
    model: { bbox: [west, south, east, north] } satisfies DensityModel,
  };
}

/**
 * The places with a name, in any of its languages, or with one and its country or state, the largest first.
 * @param places the largest first.
 * @throws {Error} that names the nearest name if there is none, but not a name that differs in more than two letters.
 */
export function placesNamed(name: string, places: readonly Place[]): [Place, ...Place[]] {
  const [largest, ...others] = places.filter((place) =>
    isNameOf(name, [place.name, ...(place.otherNames ?? [])], `${place.country}-${place.region}`),
  );
  if (largest !== undefined) return [largest, ...others];
  const meant = nearestTo(folded(name.replace(/,.*/s, "")), places);
  const advice =
    meant === undefined ? "" : `. The nearest is ${titleOf(meant)}: --around "${titleOf(meant)}"`;
  throw new Error(`GeoNames' places of 1,000 people and more have none of this name${advice}`);
}

/** The largest of the places whose names differ least, by one letter or two. */
function nearestTo(wanted: string, places: readonly Place[]): Place | undefined {
  let [nearest, least]: [Place | undefined, number] = [undefined, Math.min(3, wanted.length - 1)];
  for (const place of places) {
    const letters = lettersApart(wanted, folded(place.name), least);
    if (letters < least) [nearest, least] = [place, letters];
  }
  return nearest;
}

/** How many letters have to be changed, added or removed (Levenshtein). @param enough more are not counted */
function lettersApart(one: string, other: string, enough: number): number {
  if (Math.abs(one.length - other.length) >= enough) return enough;
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (let at = 0; at < other.length; at++) {
      const change = (row[at] ?? 0) + (letter === other[at] ? 0 : 1);
      next.push(Math.min(change, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? enough;
}

/** At most so many others of the same name are listed. */
const othersNamed = 9;

function notesOn(largest: Place, others: readonly Place[]): readonly string[] {
  if (others.length === 0) return [];
  const listed = others.slice(0, othersNamed).map((place) => {
    const { west, south, east, north } = boxAt(place);
    return `${described(place)}: --around ${[west, south, east, north].join()}`;
  });
  const more = others.length - listed.length;
  return [
    `${described(largest)} is covered, the largest of ${others.length + 1} places of this name. The others:`,
    ...listed,
    ...(more > 0 ? [`and ${more} smaller ones`] : []),
  ];
}

/** With the state in the United States, where most places share their name with others. */
function titleOf({ name, country, region }: Place): string {
  return [name, ...(country === "US" ? [region] : []), countryName(country)].join(", ");
}

function described(place: Place): string {
  return `${titleOf(place)} (${place.people.toLocaleString("en")} people)`;
}

/** 10 × 10 km around a place. */
export function boxAt({ latitude, longitude }: Point): Box {
  const round = (degrees: number) => Math.round(degrees * 1e5) / 1e5;
  const high = 5 / kilometresPerDegree;
  const wide = Math.min(high / Math.cos((latitude * Math.PI) / 180), 45);
  return {
    west: round(turned(longitude - wide)),
    south: round(Math.max(latitude - high, -90)),
    east: round(turned(longitude + wide)),
    north: round(Math.min(latitude + high, 90)),
  };
}

/** From −180 to less than 180 degrees. */
function turned(longitude: number): number {
  return ((longitude + 540) % 360) - 180;
}

type Point = Pick<Place, "latitude" | "longitude">;

function middleOf({ west, south, east, north }: Box): Point {
  return { latitude: (south + north) / 2, longitude: (west + east) / 2 };
}

/** The middle of that of some cells which is nearest to a point. */
function nearestCell(geohashes: readonly string[], to: Point): string {
  const middles = geohashes.map((geohash) => middleOf(boxOfCell(geohash)));
  const distance = ({ latitude, longitude }: Point) =>
    Math.hypot(latitude - to.latitude, turned(longitude - to.longitude));
  const nearest = middles.reduce((best, one) => (distance(one) < distance(best) ? one : best));
  return `${nearest.latitude.toFixed(6)},${nearest.longitude.toFixed(6)}`;
}
