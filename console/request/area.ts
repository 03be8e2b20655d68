/** The area that is asked about: a polygon that was drawn, pasted, or chosen. */
import { countCells } from "../../functions/population-density/cover/cover.ts";
import { type Point, polygonOf } from "../../functions/population-density/cover/polygon.ts";

export type { Point };

/** As the API takes it. */
export interface Area {
  readonly areaType: "POLYGON";
  readonly boundary: readonly Point[];
}

/** Limits of a polygon (`GET …/capabilities`). */
export interface AreaLimits {
  readonly minPoints: number;
  readonly maxPoints: number;
}

/** Coordinates are sent with a tenth of a metre. */
function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

/** The area with some corners. */
export function areaOf(points: readonly Point[]): Area {
  return {
    areaType: "POLYGON",
    boundary: points.map(({ latitude, longitude }) => ({
      latitude: rounded(latitude),
      longitude: rounded(longitude),
    })),
  };
}

/** Why the API would refuse an area; undefined when it would not. */
export function problemWith({ boundary }: Area, { minPoints, maxPoints }: AreaLimits): string | undefined {
  if (boundary.length < minPoints) return `A polygon needs at least ${minPoints} points.`;
  if (boundary.length > maxPoints) {
    return `The polygon has ${boundary.length} points; at most ${maxPoints} are allowed.`;
  }
  if (boundary.some(({ latitude, longitude }) => Math.abs(latitude) > 90 || Math.abs(longitude) > 180)) {
    return "A point is outside of latitude ±90, longitude ±180.";
  }
  if (polygonOf(boundary) === undefined) return "The edges must enclose an area, and must not meet.";
  return undefined;
}

/** The number of cells that share area with a valid area. */
export function cellsIn({ boundary }: Area, precision: number): number {
  const polygon = polygonOf(boundary);
  return polygon === undefined ? 0 : countCells(polygon, precision);
}

/**
 * Reads a polygon as text: GeoJSON (a Polygon, a Feature or a FeatureCollection with one), an area of the API, or a
 * list of its points. Holes are no part of the API's areas.
 * @throws {Error} with what was expected.
 */
export function parseArea(text: string): Area {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new Error("This is not JSON. Paste a GeoJSON polygon or an area of the API.");
  }
  const points = pointsIn(value);
  if (points === undefined) {
    throw new Error(
      'No polygon found. Paste GeoJSON of type Polygon, or {"areaType":"POLYGON","boundary":[{"latitude":…,"longitude":…},…]}.',
    );
  }
  return areaOf(points);
}

function pointsIn(value: unknown): readonly Point[] | undefined {
  if (Array.isArray(value)) return listOf(value, pointIn);
  if (!isRecord(value)) return undefined;
  if (value.type === "FeatureCollection" && Array.isArray(value.features)) {
    return value.features.map(pointsIn).find((points) => points !== undefined);
  }
  if (value.type === "Feature") return pointsIn(value.geometry);
  if (value.type === "Polygon" && Array.isArray(value.coordinates)) {
    const [ring, ...holes] = value.coordinates as readonly unknown[];
    if (holes.length > 0) throw new Error("The polygon has holes, which an area of the API cannot have.");
    const points = Array.isArray(ring) ? listOf(ring, positionIn) : undefined;
    return points && withoutClosing(points);
  }
  // A request of the API, or its area.
  if (isRecord(value.area)) return pointsIn(value.area);
  return Array.isArray(value.boundary) ? pointsIn(value.boundary) : undefined;
}

function listOf(
  values: readonly unknown[],
  read: (value: unknown) => Point | undefined,
): readonly Point[] | undefined {
  const points = values.map(read).filter((point) => point !== undefined);
  return points.length === values.length && points.length > 0 ? points : undefined;
}

function pointIn(value: unknown): Point | undefined {
  if (!isRecord(value)) return undefined;
  const { latitude, longitude } = value;
  return typeof latitude === "number" && typeof longitude === "number" ? { latitude, longitude } : undefined;
}

/** A position of GeoJSON: longitude first. */
function positionIn(value: unknown): Point | undefined {
  if (!Array.isArray(value)) return undefined;
  const [longitude, latitude] = value as readonly unknown[];
  return typeof latitude === "number" && typeof longitude === "number" ? { latitude, longitude } : undefined;
}

/** A ring of GeoJSON ends where it began. */
function withoutClosing(points: readonly Point[]): readonly Point[] {
  const [first] = points;
  const last = points.at(-1);
  const closes = first?.latitude === last?.latitude && first?.longitude === last?.longitude;
  return closes ? points.slice(0, -1) : points;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A box in degrees. */
export interface Box {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

/** An area that can be chosen. */
export interface Example {
  readonly name: string;
  readonly area: Area;
}

/** Districts of the demo's city; of another stage none is covered. */
const districts: readonly {
  readonly name: string;
  readonly points: readonly (readonly [number, number])[];
}[] = [
  {
    name: "Centre of Lyon",
    points: [
      [45.7795, 4.8105],
      [45.7795, 4.8685],
      [45.7635, 4.8785],
      [45.7405, 4.8685],
      [45.7315, 4.8255],
      [45.7525, 4.8105],
    ],
  },
  {
    name: "Presqu'île",
    points: [
      [45.7712, 4.8262],
      [45.7705, 4.8405],
      [45.7572, 4.8392],
      [45.7378, 4.8225],
      [45.7355, 4.8152],
      [45.7475, 4.8192],
    ],
  },
  {
    name: "Part-Dieu station",
    points: [
      [45.754114, 4.860374],
      [45.753845, 4.863185],
      [45.75249, 4.861876],
      [45.751224, 4.861125],
      [45.751442, 4.859827],
    ],
  },
];

/** What can be chosen where the data cover a box: districts in it, and the box or its middle. */
export function examplesIn(coverage: Box | undefined): readonly Example[] {
  if (coverage === undefined) return [];
  const { west, south, east, north } = coverage;
  // A west above the east: the box crosses the antimeridian.
  const width = (east - west + 360) % 360 || 360;
  const isCovered = ([latitude, longitude]: readonly [number, number]) =>
    latitude > south && latitude < north && (longitude - west + 360) % 360 < width;
  const named = districts
    .filter(({ points }) => points.every(isCovered))
    .map(({ name, points }) => ({
      name,
      area: areaOf(points.map(([latitude, longitude]) => ({ latitude, longitude }))),
    }));
  const boxAround = (share: number) => {
    const [halfWidth, halfHeight] = [(width / 2) * share, ((north - south) / 2) * share];
    const [x, y] = [west + width / 2, (north + south) / 2];
    const at = (longitude: number, latitude: number): Point => ({
      longitude: longitude > 180 ? longitude - 360 : longitude,
      latitude,
    });
    return areaOf([
      at(x - halfWidth, y - halfHeight),
      at(x + halfWidth, y - halfHeight),
      at(x + halfWidth, y + halfHeight),
      at(x - halfWidth, y + halfHeight),
    ]);
  };
  return [
    ...named,
    { name: "Middle of what is covered", area: boxAround(0.3) },
    // An edge of 180 degrees or more would lead the other way around.
    ...(width < 180 ? [{ name: "All that is covered", area: boxAround(0.999) }] : []),
  ];
}
