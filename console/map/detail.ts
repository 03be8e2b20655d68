/** The ground around what is covered, in the detail that cells need. */
import type { Feature, FeatureCollection, Geometry, Point } from "geojson";
import { assetUrl, urlOfAsset } from "../base/assets.ts";
import { ApiError, fetchWhole, successful } from "../base/whole-answer.ts";
import type { Coverage } from "../data/capabilities.ts";
import type { Position } from "../data/outlines.ts";
import type { City } from "../data/regions.ts";
import { empty } from "./geojson.ts";
import { type PieceIndex, pieceFile, squaresAround } from "./ground-grid.ts";
import type { PlaceProperties } from "./places.ts";

/** The pieces of the ground around what is covered; nothing where they cannot be loaded. */
export async function detailAround(coverage: Coverage): Promise<FeatureCollection> {
  const { squares = [], hash = "" } = (await readAsset<PieceIndex>(assetUrl("pieces"))) ?? {};
  const names = squaresAround(coverage).filter((square) => squares.includes(square));
  const pieces = await Promise.all(
    names.map((square) => readAsset<FeatureCollection>(urlOfAsset(pieceFile(square, hash)))),
  );
  return { ...empty, features: pieces.flatMap((piece) => piece?.features ?? []) };
}

/** The cities of the world's overview with the parts of the demo's, and those of pieces. */
export async function citiesAround(detail: FeatureCollection): Promise<City[]> {
  const overview = await readAsset<FeatureCollection>(assetUrl("places"));
  return [...(overview?.features ?? []), ...detail.features].filter(isCity).map(cityOf);
}

/** The land of the world, as rings; none where it cannot be loaded. */
export async function landRings(): Promise<Position[][]> {
  const outlines = await readAsset<FeatureCollection>(assetUrl("outlines"));
  return (outlines?.features ?? []).flatMap(({ geometry }) =>
    geometry.type === "Polygon" ? (geometry.coordinates as Position[][]) : [],
  );
}

type Named = Feature<Point, Pick<PlaceProperties, "name" | "people" | "region" | "otherNames">>;

function isCity({ properties }: Feature<Geometry>): boolean {
  const kinds: readonly (PlaceProperties["kind"] | "town")[] = [
    "city",
    "overview",
    "town",
    "commune",
    "quarter",
    "station",
  ];
  return kinds.includes(properties?.kind);
}

function cityOf(feature: Feature<Geometry>): City {
  const { properties, geometry } = feature as Named;
  const { name, people = 0, region, otherNames } = properties;
  const [longitude = 0, latitude = 0] = geometry.coordinates;
  return {
    ...{ name, people, longitude, latitude },
    ...(region !== undefined && { region }),
    ...(otherNames !== undefined && { otherNames: otherNames.split(",") }),
  };
}

/** An asset as JSON; undefined where it cannot be loaded, as after a deployment: the map is drawn without it. */
async function readAsset<Content>(url: string): Promise<Content | undefined> {
  try {
    return successful(await fetchWhole(url, { credentials: "omit" })).json as Content;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return undefined;
  }
}
