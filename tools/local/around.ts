import { basename } from "node:path";
import { type Box, boxOf as boxOfCell } from "../../functions/population-density/cover/box.ts";
import { countCells, geohashesOf } from "../../functions/population-density/cover/cover.ts";
import type { Polygon } from "../../functions/population-density/cover/polygon.ts";
import { nearestName } from "../../shared/nearest-name.ts";
import { boxOf } from "../cli/options.ts";
import { geoJson, polygonsOf } from "../import/density/area.ts";
import { polygonAround } from "../import/density/box.ts";
import { type DensityModel, modelledPrecision } from "../import/density/density-folder.ts";
import { largestIn, type Place, readPlaces } from "../import/density/gazetteer.ts";
import { geoNamesModel } from "../import/density/geonames-model.ts";
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
    const cells = named.polygons.reduce((sum, polygon) => sum + countCells(polygon, precision, maxCells), 0);
    if (cells > maxCells) {
      const limit = maxCells.toLocaleString("en");
      throw new Error(`has more than ${limit} cells with geohashes of ${precision} characters: name less`);
    }
    const bounds = boundsOf(named.polygons);
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
  "Nobody lives there by GeoNames, which has places of 1,000 people and more: every cell is empty";

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

/** Ignores accents, case, hyphens and spaces. */
const collator = new Intl.Collator("en", { sensitivity: "base", ignorePunctuation: true });

/**
 * The places with a name, or with one and its country as messages name them (`Paris, TX, United States`), the largest
 * first.
 * @param places the largest first.
 * @throws {Error} that names the nearest name if there is none.
 */
export function placesNamed(name: string, places: readonly Place[]): [Place, ...Place[]] {
  const isNamed = (place: Place) =>
    [place.name, ...(name.includes(",") ? [withCountry(place), titleOf(place)] : [])].some(
      (each) => collator.compare(each, name) === 0,
    );
  const [largest, ...others] = places.filter(isNamed);
  if (largest !== undefined) return [largest, ...others];
  const plain = (text: string) => text.normalize("NFD").replace(/\p{M}/gu, "");
  const nearest = nearestName(
    plain(name),
    places.map((place) => plain(place.name)),
  );
  const meant = places.find((place) => plain(place.name) === nearest);
  const advice = meant === undefined ? "" : `. The nearest is ${titleOf(meant)}: --around "${meant.name}"`;
  throw new Error(`GeoNames, which has most places under their English name, has none of this one${advice}`);
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

const countries = new Intl.DisplayNames("en", { type: "region" });

/** With the state in the United States, where most places share their name with others. */
function titleOf({ name, country, region }: Place): string {
  return [name, ...(country === "US" ? [region] : []), countries.of(country)].join(", ");
}

function withCountry({ name, country }: Place): string {
  return `${name}, ${countries.of(country)}`;
}

function described(place: Place): string {
  return `${titleOf(place)} (${place.people.toLocaleString("en")} people)`;
}

/** 0.1° × 0.1° around a place. */
export function boxAt({ latitude, longitude }: Pick<Place, "latitude" | "longitude">): Box {
  const round = (degrees: number) => Math.round(degrees * 1e5) / 1e5;
  return {
    west: round(turned(longitude - 0.05)),
    south: round(Math.max(latitude - 0.05, -90)),
    east: round(turned(longitude + 0.05)),
    north: round(Math.min(latitude + 0.05, 90)),
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
