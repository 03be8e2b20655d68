import { basename } from "node:path";
import * as z from "zod";
import { polygonOf } from "../../../functions/population-density/cover/polygon.ts";
import type { coveredArea } from "../../../functions/population-density/distributed-import/exchange.ts";
import type { Area } from "../../../functions/population-density/import/coverage.ts";
import { ImportError } from "../../../shared/import/import-error.ts";
import { readJsonAs } from "../json-file.ts";

/** Longitude, latitude and perhaps an altitude, which is ignored. */
const position = z.tuple([z.number().min(-180).max(180), z.number().min(-90).max(90)]).rest(z.unknown());

type Position = z.output<typeof position>;

const ring = z
  .array(position)
  .min(4)
  .refine((positions) => isSame(positions[0], positions.at(-1)), "must end where it begins");

const rings = z.tuple([ring], "must be one ring: holes are not supported");

const polygon = z.object({ type: z.literal("Polygon"), coordinates: rings });
const multiPolygon = z.object({ type: z.literal("MultiPolygon"), coordinates: z.array(rings) });
const geometryCollection = z.object({
  type: z.literal("GeometryCollection"),
  get geometries() {
    return z.array(geometry);
  },
});
const geometry = z.discriminatedUnion("type", [polygon, multiPolygon, geometryCollection]);
const feature = z.object({ type: z.literal("Feature"), geometry });
const featureCollection = z.object({ type: z.literal("FeatureCollection"), features: z.array(feature) });
const geoJson = z.discriminatedUnion("type", [...geometry.options, feature, featureCollection]);

/**
 * Reads the polygons of a GeoJSON file: a geometry, a feature or a collection of either. Two longitudes in a row that
 * are more than 180 degrees apart cross the antimeridian. The time grows with the square of a ring's vertices: about
 * 0.3 s for 5,000 and 4 s for 20,000.
 * @throws {ImportError} naming what is refused by its place in the file: other types, holes, rings that are open or
 * cross or touch themselves.
 */
export async function readArea(path: string): Promise<Area> {
  const { file, found } = await readPolygons(path);
  return { file, polygons: found.map(({ polygon }) => polygon) };
}

/**
 * Reads and checks the same for a distributed import, whose functions make the polygons.
 * @throws {ImportError} like `readArea`.
 */
export async function coveredAreaIn(path: string): Promise<z.infer<typeof coveredArea>> {
  const { file, found } = await readPolygons(path);
  return { file, rings: found.map(({ ring }) => ring) };
}

async function readPolygons(path: string) {
  const file = basename(path);
  const content = await readJsonAs(geoJson, path);
  const found = ringsIn(content).map(({ at, positions }) => {
    const ring = positions.map(([longitude, latitude]) => ({ longitude, latitude }));
    const polygon = polygonOf(ring);
    if (polygon !== undefined) return { ring, polygon };
    throw new ImportError([`${file}: ${at.join(".")}: must have an area, and edges that do not meet`]);
  });
  if (found.length === 0) throw new ImportError([`${file}: has no polygon`]);
  return { file, found };
}

interface Ring {
  /** The members that lead to it. */
  readonly at: readonly (string | number)[];
  readonly positions: readonly Position[];
}

function ringsIn(content: z.output<typeof geoJson>, at: Ring["at"] = []): Ring[] {
  switch (content.type) {
    case "FeatureCollection":
      return content.features.flatMap((one, index) => ringsIn(one, [...at, "features", index]));
    case "Feature":
      return ringsIn(content.geometry, [...at, "geometry"]);
    case "GeometryCollection":
      return content.geometries.flatMap((one, index) => ringsIn(one, [...at, "geometries", index]));
    case "MultiPolygon":
      return content.coordinates.map(([positions], index) => ({
        at: [...at, "coordinates", index],
        positions,
      }));
    case "Polygon":
      return [{ at: [...at, "coordinates"], positions: content.coordinates[0] }];
  }
}

function isSame(one: Position | undefined, other: Position | undefined): boolean {
  return one?.[0] === other?.[0] && one?.[1] === other?.[1];
}
