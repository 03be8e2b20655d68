import ngeohash from "ngeohash";

interface Point {
  readonly latitude: number;
  readonly longitude: number;
}

/**
 * Whether a value is a geohash whose rectangle has a part of the area in it. Written apart from the service's own cover,
 * which it judges; the area does not cross the antimeridian.
 */
export function isInArea(value: unknown, boundary: readonly Point[]): boolean {
  if (typeof value !== "string" || !/^[0-9b-hjkmnp-z]{1,12}$/.test(value)) return false;
  const [south, west, north, east] = ngeohash.decode_bbox(value);
  const isInBox = ({ latitude, longitude }: Point) =>
    latitude >= south && latitude <= north && longitude >= west && longitude <= east;
  const corners: readonly Point[] = [
    { latitude: south, longitude: west },
    { latitude: south, longitude: east },
    { latitude: north, longitude: east },
    { latitude: north, longitude: west },
  ];
  return (
    boundary.some(isInBox) ||
    corners.some((corner) => isInside(corner, boundary)) ||
    edgesOf(boundary).some((edge) => edgesOf(corners).some((side) => areCrossing(edge, side)))
  );
}

function isInside({ latitude, longitude }: Point, boundary: readonly Point[]): boolean {
  const crossed = edgesOf(boundary).filter(([from, to]) => {
    if (from.latitude > latitude === to.latitude > latitude) return false;
    const share = (latitude - from.latitude) / (to.latitude - from.latitude);
    return longitude < from.longitude + share * (to.longitude - from.longitude);
  });
  return crossed.length % 2 === 1;
}

type Edge = readonly [from: Point, to: Point];

function areCrossing([one, other]: Edge, [first, second]: Edge): boolean {
  return (
    sideOf(one, other, first) !== sideOf(one, other, second) &&
    sideOf(first, second, one) !== sideOf(first, second, other)
  );
}

function sideOf(from: Point, to: Point, point: Point): boolean {
  const [width, height] = [to.longitude - from.longitude, to.latitude - from.latitude];
  return width * (point.latitude - from.latitude) - height * (point.longitude - from.longitude) > 0;
}

function edgesOf(ring: readonly Point[]): readonly Edge[] {
  return ring.map((point, index) => [ring.at(index - 1) ?? point, point] as const);
}
