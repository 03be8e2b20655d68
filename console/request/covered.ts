/** Whether areas have anything of what is covered, known before anything is asked. */
import type { Point } from "./area.ts";
import type { Coverage } from "./capabilities.ts";

type Place = readonly number[];
type Ring = readonly Place[];

/** Whether a ring has anything of what is covered. */
export function touchesCoverage(ring: readonly Point[], { coordinates }: Coverage): boolean {
  const places = ring.map(({ longitude, latitude }): Place => [longitude, latitude]);
  return coordinates.some(
    (polygon) =>
      places.some((place) => isWithin(place, polygon)) ||
      polygon.some((outline) => outline.some((place) => isWithin(place, [places]))) ||
      polygon.some((outline) => cross(places, outline)),
  );
}

/** The ring with latitude and longitude exchanged; undefined where that is no place. */
export function swapped(ring: readonly Point[]): readonly Point[] | undefined {
  const points = ring.map(({ latitude, longitude }) => ({ latitude: longitude, longitude: latitude }));
  return points.every(({ latitude }) => Math.abs(latitude) <= 90) ? points : undefined;
}

/** Whether a ray to the east crosses the rings an odd number of times: a hole is not in its polygon. */
export function isWithin([longitude = 0, latitude = 0]: Place, rings: readonly Ring[]): boolean {
  let crossings = 0;
  for (const ring of rings) {
    for (const [[x1 = 0, y1 = 0], [x2 = 0, y2 = 0]] of edgesOf(ring)) {
      if (y1 > latitude === y2 > latitude) continue;
      if (longitude < x1 + ((latitude - y1) / (y2 - y1)) * (x2 - x1)) crossings++;
    }
  }
  return crossings % 2 === 1;
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
