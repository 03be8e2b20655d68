/** Whether areas have anything of what is covered, or of where typical hours were compared. */

import type { Point } from "./area.ts";
import type { Coverage, ForecastQuality } from "./capabilities.ts";
import { continuous, isWithin, positionOf, type Ring } from "./outlines.ts";
import type { Query } from "./query.ts";

type Place = readonly number[];

/** Whether a ring, also one across the antimeridian, has anything of what is covered. */
export function touchesCoverage(
  ring: readonly Point[],
  { coordinates }: Pick<Coverage, "coordinates">,
): boolean {
  const unbroken = continuous(ring.map(positionOf));
  const turns = [0, -360, 360].map((turn) =>
    unbroken.map(([longitude, latitude]): Place => [longitude + turn, latitude]),
  );
  return coordinates.some((polygon) => turns.some((places) => touch(places, polygon)));
}

/** Whether any of some rings has anything of what is covered; true before the first import. */
export function areCovered(rings: readonly (readonly Point[])[], coverage: Coverage | undefined): boolean {
  return coverage === undefined || rings.some((ring) => touchesCoverage(ring, coverage));
}

function touch(places: Ring, polygon: readonly Ring[]): boolean {
  return (
    places.some((place) => isWithin(place, polygon)) ||
    polygon.some((outline) => outline.some((place) => isWithin(place, [places]))) ||
    polygon.some((outline) => cross(places, outline))
  );
}

/**
 * How good typical hours of a precision were, if every area has something of a region where they were compared;
 * `elsewhere` if one has not, and undefined if no region is known.
 */
export function qualityIn(
  { areas, precision }: Pick<Query, "areas" | "precision">,
  qualities: readonly ForecastQuality[],
): ForecastQuality | "elsewhere" | undefined {
  const quality = qualities.find((each) => each.precision === precision);
  const coordinates = (quality?.regions ?? []).flatMap(partsOf);
  if (coordinates.length === 0) return undefined;
  return areas.every(({ boundary }) => touchesCoverage(boundary, { coordinates })) ? quality : "elsewhere";
}

/** The polygons of a box; two of one across the antimeridian. */
function partsOf([west = 0, south = 0, east = 0, north = 0]: readonly number[]): Ring[][] {
  const polygon = (from: number, to: number) => [
    [
      [from, south],
      [to, south],
      [to, north],
      [from, north],
    ],
  ];
  return west <= east ? [polygon(west, east)] : [polygon(west, 180), polygon(-180, east)];
}

/** The ring with latitude and longitude exchanged; undefined where that is no place. */
export function swapped(ring: readonly Point[]): readonly Point[] | undefined {
  const points = ring.map(({ latitude, longitude }) => ({ latitude: longitude, longitude: latitude }));
  return points.every(({ latitude }) => Math.abs(latitude) <= 90) ? points : undefined;
}

function cross(one: Ring, other: Ring): boolean {
  const others = edgesOf(other);
  return edgesOf(one).some(([a, b]) =>
    others.some(([c, d]) => turn(a, b, c) !== turn(a, b, d) && turn(c, d, a) !== turn(c, d, b)),
  );
}

function edgesOf(ring: Ring): (readonly [Place, Place])[] {
  return ring.map((place, index) => [place, ring[(index + 1) % ring.length] as Place] as const);
}

function turn([ax = 0, ay = 0]: Place, [bx = 0, by = 0]: Place, [cx = 0, cy = 0]: Place): number {
  return Math.sign((bx - ax) * (cy - ay) - (by - ay) * (cx - ax));
}
