import { cellOf, gridOf } from "./geohash.ts";

/** WGS84. */
const equatorialRadiusKm = 6_378.137;
const flattening = 1 / 298.257223563;
const eccentricitySquared = flattening * (2 - flattening);

/** Gauss–Legendre with five points: below 1e-10 off even over the 45 degrees of a cell of precision 1. */
const inner = Math.sqrt(5 - 2 * Math.sqrt(10 / 7)) / 3;
const outer = Math.sqrt(5 + 2 * Math.sqrt(10 / 7)) / 3;
const innerWeight = (322 + 13 * Math.sqrt(70)) / 900;
const outerWeight = (322 - 13 * Math.sqrt(70)) / 900;
const quadrature = [
  { at: 0, weight: 128 / 225 },
  { at: -inner, weight: innerWeight },
  { at: inner, weight: innerWeight },
  { at: -outer, weight: outerWeight },
  { at: outer, weight: outerWeight },
];

/**
 * The area of a cell on the WGS84 ellipsoid, in km².
 * @throws RangeError for what is not a geohash of 1 to 12 characters.
 */
export function cellArea(geohash: string): number {
  if (geohash.length < 1 || geohash.length > 12) {
    throw new RangeError(`not a geohash of 1 to 12 characters: ${JSON.stringify(geohash)}`);
  }
  return rowArea(cellOf(geohash).row, geohash.length);
}

/** The area of each cell in a row of the grid of a precision, in km². */
export function rowArea(row: number, precision: number): number {
  const { rows, cellHeight, cellWidth } = gridOf(precision);
  // Counted from the nearer pole, where the cosine of a latitude would have lost its digits.
  const middle = (Math.min(row, rows - 1 - row) + 0.5) * cellHeight;
  const integral = quadrature.reduce(
    (sum, { at, weight }) => sum + weight * curvature(radians(middle + (at * cellHeight) / 2)),
    0,
  );
  return (integral / 2) * radians(cellHeight) * radians(cellWidth);
}

/**
 * The area between the equator and a latitude on the ellipsoid, for each degree of longitude: in km², below 0 in the
 * south. The areas of narrow bands are differences of two, exact to 1e-9 for bands of a metre and more, other than
 * next to the poles.
 */
export function areaFromEquator(latitude: number): number {
  const sine = Math.sin(radians(latitude));
  const eccentricity = Math.sqrt(eccentricitySquared);
  const integral =
    sine / (1 - eccentricitySquared * sine * sine) + Math.atanh(eccentricity * sine) / eccentricity;
  return (radians(1) * equatorialRadiusKm ** 2 * (1 - eccentricitySquared) * integral) / 2;
}

/** M · N · cos φ, in km² per square radian, at an angle from a pole. */
function curvature(colatitude: number): number {
  const cosine = Math.cos(colatitude);
  const meridional = equatorialRadiusKm ** 2 * (1 - eccentricitySquared) * Math.sin(colatitude);
  // The sine of the latitude is the cosine of the colatitude.
  return meridional / (1 - eccentricitySquared * cosine * cosine) ** 2;
}

function radians(degrees: number): number {
  return (degrees * Math.PI) / 180;
}
