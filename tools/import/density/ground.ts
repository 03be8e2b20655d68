import type { DrawnCity, Position } from "./drawn-city.ts";

/** What is at a point of a city. */
export interface Ground {
  /** How many of those around a place live or work here, compared with other points: nobody on water. */
  readonly residents: number;
  readonly workers: number;
  /** Weight of a park, compared with other parks. */
  readonly visitors: number;
}

/** Metres east and north. */
export type Metres = readonly [east: number, north: number];

/** The plane around a point, in metres: exact enough for a city. */
export function planeAround([longitude, latitude]: Position): (position: Position) => Metres {
  const metresPerDegree = 111_195;
  const narrowing = Math.cos((latitude * Math.PI) / 180);
  return ([east, north]) => [
    (east - longitude) * narrowing * metresPerDegree,
    (north - latitude) * metresPerDegree,
  ];
}

/** The ground of a city: its rivers, its open ground, and blocks that have more people than others. */
export function groundOf(
  { water, open }: DrawnCity,
  metresOf: (position: Position) => Metres,
): (point: Metres) => Ground {
  const reaches = water.flatMap(({ width, line }) => {
    const points = line.map(metresOf);
    const half = width / 2;
    return points.slice(1).map((to, index) => {
      const from = points[index] ?? to;
      return { from, to, squaredHalf: half * half, ...boundsOf([from, to], half) };
    });
  });
  const grounds = open.map(({ ring, ...ground }) => {
    const points = ring.map(metresOf);
    return { ...ground, points, ...boundsOf(points) };
  });
  return (point) => {
    for (const reach of reaches) {
      if (!isInBounds(point, reach)) continue;
      if (squaredDistance(point, reach.from, reach.to) < reach.squaredHalf) return onWater;
    }
    const block = 1 + blockVariation * (smoothNoise(point, 350) + smoothNoise(point, 140));
    const here = grounds.find((ground) => isWithin(point, ground));
    return here === undefined
      ? { residents: block, workers: block, visitors: 0 }
      : { residents: here.residents * block, workers: here.workers * block, visitors: here.visitors };
  };
}

const onWater: Ground = { residents: 0, workers: 0, visitors: 0 };

/** How much blocks differ from their surroundings, twice. */
const blockVariation = 0.16;

interface Bounds {
  readonly low: Metres;
  readonly high: Metres;
}

/** Box around points and what is less than a margin away from them. */
function boundsOf(points: readonly Metres[], margin = 0): Bounds {
  const [east, north] = [points.map(([x]) => x), points.map(([, y]) => y)];
  return {
    low: [Math.min(...east) - margin, Math.min(...north) - margin],
    high: [Math.max(...east) + margin, Math.max(...north) + margin],
  };
}

function isInBounds(point: Metres, { low, high }: Bounds): boolean {
  return point[0] >= low[0] && point[1] >= low[1] && point[0] <= high[0] && point[1] <= high[1];
}

function isWithin(point: Metres, ground: Bounds & { points: readonly Metres[] }): boolean {
  if (!isInBounds(point, ground)) return false;
  const { points } = ground;
  const [x, y] = point;
  let inside = false;
  for (const [index, [east, north]] of points.entries()) {
    const [lastEast, lastNorth] = points.at(index - 1) ?? [east, north];
    if (north > y === lastNorth > y) continue;
    if (x < ((lastEast - east) * (y - north)) / (lastNorth - north) + east) inside = !inside;
  }
  return inside;
}

/** In square metres, of a ring that does not cross itself. */
export function ringArea(points: readonly Metres[]): number {
  const twice = points.reduce((sum, [x, y], index) => {
    const [lastX, lastY] = points.at(index - 1) ?? [x, y];
    return sum + lastX * y - x * lastY;
  }, 0);
  return Math.abs(twice) / 2;
}

function squaredDistance([x, y]: Metres, [fromX, fromY]: Metres, [toX, toY]: Metres): number {
  const [east, north] = [toX - fromX, toY - fromY];
  const along = ((x - fromX) * east + (y - fromY) * north) / (east * east + north * north);
  const part = Math.min(Math.max(along, 0), 1);
  return (x - fromX - part * east) ** 2 + (y - fromY - part * north) ** 2;
}

/** From -1 to 1, the same each time, without steps: values at the corners of a grid, and between them in between. */
function smoothNoise([x, y]: Metres, gridMetres: number): number {
  const [column, row] = [Math.floor(x / gridMetres), Math.floor(y / gridMetres)];
  const [right, up] = [eased(x / gridMetres - column), eased(y / gridMetres - row)];
  const between = (one: number, other: number, part: number) => one + (other - one) * part;
  return between(
    between(cornerValue(column, row), cornerValue(column + 1, row), right),
    between(cornerValue(column, row + 1), cornerValue(column + 1, row + 1), right),
    up,
  );
}

function eased(part: number): number {
  return part * part * (3 - 2 * part);
}

/** A hash of two whole numbers, from -1 to 1. */
function cornerValue(column: number, row: number): number {
  let hash = Math.imul(column, 0x27d4eb2d) ^ Math.imul(row, 0x165667b1);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39);
  return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 31 - 1;
}
