import { basename } from "node:path";
import earcut, { deviation, flatten } from "earcut";
import * as z from "zod";
import { type Polygon, polygonOf } from "../../../functions/population-density/cover/polygon.ts";
import type { CoveredArea } from "../../../functions/population-density/import/coverage.ts";
import { ImportError } from "../../../shared/import/import-error.ts";
import { readJsonAs } from "../json-file.ts";

const latitudeRange =
  "must be from -90 to 90: in GeoJSON the longitude comes first; latitude and longitude swapped?";

/** Longitude, latitude and perhaps an altitude, which is ignored. */
const position = z
  .tuple([z.number().min(-180).max(180), z.number().min(-90, latitudeRange).max(90, latitudeRange)])
  .rest(z.unknown());

type Position = z.output<typeof position>;

const ring = z
  .array(position)
  .min(4)
  .refine((positions) => isSame(positions[0], positions.at(-1)), "must end where it begins");

/** The outer ring and those of holes. */
const rings = z.array(ring).min(1, "must have a ring");

const polygon = z.object({ type: z.literal("Polygon"), coordinates: rings });
const multiPolygon = z.object({ type: z.literal("MultiPolygon"), coordinates: z.array(rings) });
const geometryCollection = z.object({
  type: z.literal("GeometryCollection"),
  get geometries() {
    return z.array(geometry);
  },
});
/** Such as where a map writes an area's name; its place is not read. */
const label = z.object({ type: z.enum(["Point", "MultiPoint"]) });
const otherType = "must be Polygon, MultiPolygon, GeometryCollection, Feature or FeatureCollection";
const geometry = z.discriminatedUnion("type", [polygon, multiPolygon, geometryCollection, label], otherType);
const feature = z.object({ type: z.literal("Feature"), geometry: z.nullable(geometry) });
const featureCollection = z.object({ type: z.literal("FeatureCollection"), features: z.array(feature) });

/** What may say where an area is. */
export const geoJson = z.discriminatedUnion(
  "type",
  [...geometry.options, feature, featureCollection],
  otherType,
);

/**
 * Reads the polygons of a GeoJSON file: a geometry, a feature or a collection of either. Two longitudes in a row that
 * are more than 180 degrees apart cross the antimeridian. A polygon with holes is divided into triangles, each a
 * polygon of its own, so that the same cells share area with it. The time grows with the square of a ring's vertices:
 * about 0.3 s for 5,000 and 4 s for 20,000. Points, such as those of labels, and features without a geometry are left
 * out.
 * @param onRemark called with a sentence about what was left out, if anything was.
 * @throws {ImportError} naming what is refused by its place in the file: other types, rings that are open or cross or
 * touch themselves, holes that are not inside.
 */
export async function readArea(path: string, onRemark?: OnRemark): Promise<CoveredArea> {
  const file = basename(path);
  return { file, polygons: polygonsOf(await readJsonAs(geoJson, path), file, onRemark) };
}

/** Takes a sentence for the operator that refuses nothing. */
export type OnRemark = (remark: string) => void;

type GeoJson = z.output<typeof geoJson>;

/**
 * The polygons of GeoJSON that was read from a file.
 * @throws {ImportError} like `readArea`.
 */
export function polygonsOf(content: GeoJson, file: string, onRemark?: OnRemark): Polygon[] {
  const parts = partsIn(content);
  const without = parts.filter((part) => "without" in part);
  if (without.length > 0) onRemark?.(`${file}: ${leftOutText(without)}`);
  const found = parts
    .flatMap((part) => ("rings" in part ? [part] : []))
    .flatMap(({ at, rings }) => {
      const refuse = (index: number, reason: string): never => {
        const place = rings.length === 1 ? at : [...at, index];
        throw new ImportError([`${file}: ${place.join(".")}: ${reason}`]);
      };
      const polygons = rings.map(
        (ring, index) => polygonOf(ring) ?? refuse(index, "must have an area, and edges that do not meet"),
      );
      return polygons.length === 1 ? polygons : withoutHoles(rings, refuse);
    });
  if (found.length === 0) throw new ImportError([`${file}: has no polygon`]);
  return found;
}

/** Triangles that together are the outer ring without the holes. */
function withoutHoles(rings: readonly (readonly Point[])[], refuse: (ring: number, reason: string) => never) {
  const crossing = rings.findIndex((ring) =>
    ring.some(({ longitude }, index) => Math.abs(longitude - (ring.at(index - 1)?.longitude ?? 0)) > 180),
  );
  if (crossing >= 0) refuse(crossing, "must be divided at the antimeridian, because the polygon has holes");
  const { vertices, holes, dimensions } = flatten(
    rings.map((ring) => ring.slice(1).map(({ longitude, latitude }) => [longitude, latitude])),
  );
  const corners = earcut(vertices, holes, dimensions);
  if (deviation(vertices, holes, dimensions, corners) > maxDeviation) {
    refuse(0, "must have its holes inside, and none that meet another one or the ring");
  }
  const pointAt = (corner: number): Point => ({
    longitude: vertices[dimensions * corner] ?? Number.NaN,
    latitude: vertices[dimensions * corner + 1] ?? Number.NaN,
  });
  const triangles: Polygon[] = [];
  for (let at = 0; at < corners.length; at += 3) {
    const ring = corners.slice(at, at + 3).map(pointAt);
    // Three corners on a line have no area to cover.
    const polygon = polygonOf(ring);
    if (polygon !== undefined) triangles.push(polygon);
  }
  return triangles;
}

/** How far the area of all triangles may be from that of the polygon by rounding alone. */
const maxDeviation = 1e-9;

interface Rings {
  /** The members that lead to it. */
  readonly at: readonly (string | number)[];
  /** The outer one first, then those of holes. */
  readonly rings: readonly (readonly Point[])[];
}

interface Point {
  readonly longitude: number;
  readonly latitude: number;
}

/** What has no area, and so covers nothing. */
interface WithoutArea {
  readonly at: Rings["at"];
  /** As a remark names it. */
  readonly without: string;
}

function leftOutText(parts: readonly WithoutArea[]): string {
  const named = parts.slice(0, 3).map(({ at, without }) => `${at.join(".")} (${without})`);
  const others = parts.length - named.length;
  const all = [...named, ...(others > 0 ? [`${others.toLocaleString("en")} more`] : [])];
  return `left out, as they have no area: ${all.join(", ")}`;
}

function partsIn(content: GeoJson | null, at: Rings["at"] = []): (Rings | WithoutArea)[] {
  switch (content?.type) {
    case undefined:
      return [{ at, without: "no geometry" }];
    case "FeatureCollection":
      return content.features.flatMap((one, index) => partsIn(one, [...at, "features", index]));
    case "Feature":
      return partsIn(content.geometry, [...at, "geometry"]);
    case "GeometryCollection":
      return content.geometries.flatMap((one, index) => partsIn(one, [...at, "geometries", index]));
    case "MultiPolygon":
      return content.coordinates.map((rings, index) => ({
        at: [...at, "coordinates", index],
        rings: rings.map(pointsOf),
      }));
    case "Polygon":
      return [{ at: [...at, "coordinates"], rings: content.coordinates.map(pointsOf) }];
    case "Point":
    case "MultiPoint":
      return [{ at, without: content.type }];
  }
}

function pointsOf(positions: readonly Position[]): Point[] {
  return positions.map(([longitude, latitude]) => ({ longitude, latitude }));
}

function isSame(one: Position | undefined, other: Position | undefined): boolean {
  return one?.[0] === other?.[0] && one?.[1] === other?.[1];
}
