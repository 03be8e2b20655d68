/** Fewer corners for polygons that have more than the API takes. */
import { presimplify } from "topojson-simplify";
import { type Area, areaOf, middleLatitude, type Point } from "../data/area.ts";
import { areaRing } from "../data/outlines.ts";

/** A place in a plane where both axes have the same scale, near the middle of a polygon. */
type Place = readonly [x: number, y: number];

/**
 * The corners of a polygon that matter most for its shape (Visvalingam's algorithm), in their order.
 * @returns corners of the polygon's convex hull where `isValid` refuses those of the polygon: a long narrow one may
 * cross itself without some of its corners.
 */
export function simplified(
  points: readonly Point[],
  maxPoints: number,
  isValid: (points: readonly Point[]) => boolean,
): readonly Point[] {
  const places = placesOf(points);
  const order = points.map((_, index) => index);
  const chosen = mostImportant(order, places, maxPoints).map((index) => points[index] as Point);
  if (isValid(chosen)) return chosen;
  return mostImportant(hullOf(order, places), places, maxPoints).map((index) => points[index] as Point);
}

/** The area of a polygon, in a unit that all polygons with this middle have. */
export function extentOf(points: readonly Point[]): number {
  const places = placesOf(points);
  const sum = places.reduce((total, place, index) => total + cross(place, at(places, index + 1)), 0);
  return Math.abs(sum / 2);
}

/** The places of corners, their longitudes continued across the antimeridian. */
function placesOf(points: readonly Point[]): Place[] {
  const area: Area = areaOf(points);
  const stretch = Math.cos((middleLatitude(area) * Math.PI) / 180);
  const [first = [0, 0]] = areaRing(area);
  // Relative to the first corner, so that no digits are lost.
  return areaRing(area)
    .slice(0, -1)
    .map(([longitude, latitude]) => [(longitude - first[0]) * stretch, latitude - first[1]]);
}

/** The indexes, of some in the order of a ring, without which its shape would change most. */
function mostImportant(ring: readonly number[], places: readonly Place[], count: number): number[] {
  if (ring.length <= count) return [...ring];
  // Where the ring begins always stays: at a corner of its hull.
  const outermost = ring.reduce(
    (best, index, position) => (at(places, index)[0] < at(places, ring[best] ?? 0)[0] ? position : best),
    0,
  );
  const turned = [...ring.slice(outermost), ...ring.slice(0, outermost)];
  const arc = [...turned, turned[0] ?? 0].map((index) => [...at(places, index)]);
  const { arcs } = presimplify({ type: "Topology", objects: {}, arcs: [arc] });
  const weights = (arcs[0] ?? []).slice(0, -1).map(([, , weight = 0]) => weight);
  const order = weights
    .map((_, position) => position)
    .sort((one, other) => at(weights, other) - at(weights, one));
  const chosen = new Set(order.slice(0, count));
  return turned.filter((_, position) => chosen.has(position));
}

/** The indexes of the convex hull, counter-clockwise (Andrew's algorithm). */
function hullOf(indexes: readonly number[], places: readonly Place[]): number[] {
  const sorted = indexes.toSorted((one, other) => {
    const [[x1, y1], [x2, y2]] = [at(places, one), at(places, other)];
    return x1 - x2 || y1 - y2;
  });
  const half = (order: readonly number[]) => {
    const chain: number[] = [];
    for (const index of order) {
      while (chain.length > 1 && !turnsLeft(chain, index, places)) chain.pop();
      chain.push(index);
    }
    return chain.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.toReversed())];
}

function turnsLeft(chain: readonly number[], next: number, places: readonly Place[]): boolean {
  const [[ax, ay], [bx, by]] = [at(places, chain.at(-2) ?? 0), at(places, chain.at(-1) ?? 0)];
  const [cx, cy] = at(places, next);
  return cross([bx - ax, by - ay], [cx - ax, cy - ay]) > 0;
}

function cross([ax, ay]: Place, [bx, by]: Place): number {
  return ax * by - bx * ay;
}

/** The item at an index that exists, counted around. */
function at<Item>(items: readonly Item[], index: number): Item {
  return items[index % items.length] as Item;
}
