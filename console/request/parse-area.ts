import { type Area, areaOf, type Point } from "./area.ts";

/**
 * Parses a polygon from text: GeoJSON (a Polygon, or a Feature or FeatureCollection with one), an area or a request in
 * the API's format, or a list of points.
 * @throws {Error} saying what was expected. A polygon with holes is refused, because the API's areas have none.
 */
export function parseArea(text: string): Area {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new Error("This is not JSON. Paste a GeoJSON polygon or an area of the API.");
  }
  const points = findPoints(value);
  if (points === undefined) {
    const example = '{"areaType":"POLYGON","boundary":[{"latitude":…,"longitude":…},…]}';
    throw new Error(`No polygon found. Paste GeoJSON of type Polygon, or ${example}.`);
  }
  return areaOf(points);
}

function findPoints(value: unknown): readonly Point[] | undefined {
  if (Array.isArray(value)) return parseAll(value, parsePoint);
  if (!isRecord(value)) return undefined;
  if (value.type === "FeatureCollection" && Array.isArray(value.features)) {
    return value.features.map(findPoints).find((points) => points !== undefined);
  }
  if (value.type === "Feature") return findPoints(value.geometry);
  if (value.type === "Polygon" && Array.isArray(value.coordinates)) return outerRing(value.coordinates);
  // A request in the API's format, or its area.
  if (isRecord(value.area)) return findPoints(value.area);
  return Array.isArray(value.boundary) ? findPoints(value.boundary) : undefined;
}

/** The corners of a GeoJSON polygon, without the last, which repeats the first. */
function outerRing([ring, ...holes]: readonly unknown[]): readonly Point[] | undefined {
  if (holes.length > 0) throw new Error("The polygon has holes, which an area of the API cannot have.");
  const points = Array.isArray(ring) ? parseAll(ring, parsePosition) : undefined;
  if (points === undefined) return undefined;
  const [first] = points;
  const last = points.at(-1);
  const isClosed = first?.latitude === last?.latitude && first?.longitude === last?.longitude;
  return isClosed ? points.slice(0, -1) : points;
}

/** Parses values as points; undefined if there are none, or one of them is not a point. */
function parseAll(
  values: readonly unknown[],
  parse: (value: unknown) => Point | undefined,
): readonly Point[] | undefined {
  const points = values.map(parse).filter((point) => point !== undefined);
  return points.length === values.length && points.length > 0 ? points : undefined;
}

/** Parses a point in the API's format. */
function parsePoint(value: unknown): Point | undefined {
  if (!isRecord(value)) return undefined;
  const { latitude, longitude } = value;
  return typeof latitude === "number" && typeof longitude === "number" ? { latitude, longitude } : undefined;
}

/** Parses a GeoJSON position: longitude first. */
function parsePosition(value: unknown): Point | undefined {
  if (!Array.isArray(value)) return undefined;
  const [longitude, latitude] = value as readonly unknown[];
  return typeof latitude === "number" && typeof longitude === "number" ? { latitude, longitude } : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
