import { type Area, areaOf, type Box } from "../data/area.ts";
import type { Coverage } from "../data/capabilities.ts";

/** An example area. */
export interface Example {
  readonly name: string;
  readonly area: Area;
}

interface District {
  readonly name: string;
  /** Latitude and longitude of each corner. */
  readonly corners: readonly (readonly [number, number])[];
}

/** Districts of the demo's city. */
const districts: readonly District[] = [
  {
    name: "Centre of Lyon",
    corners: [
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
    corners: [
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
    corners: [
      [45.754114, 4.860374],
      [45.753845, 4.863185],
      [45.75249, 4.861876],
      [45.751224, 4.861125],
      [45.751442, 4.859827],
    ],
  },
];

/** The name of the demo's district that an area is; undefined for any other. */
export function districtOf({ boundary }: Area): string | undefined {
  const corners = JSON.stringify(boundary);
  return districts.map(exampleOf).find(({ area }) => JSON.stringify(area.boundary) === corners)?.name;
}

/** Example areas within the coverage: districts in it, the middle of its largest polygon, and all of it if it has one. */
export function examplesIn(coverage: Coverage | undefined): readonly Example[] {
  const polygons = coverage?.coordinates ?? [];
  const [largest] = polygons.toSorted((one, other) => sizeOf(boxOf(other)) - sizeOf(boxOf(one)));
  if (largest === undefined) return [];
  const middle = middleOf(largest);
  const all = polygons.length === 1 ? rectangle(boxOf(largest), 0.999) : undefined;
  const own = [
    ...(middle === undefined ? [] : [{ name: "Middle of what is covered", area: middle }]),
    ...(all === undefined ? [] : [{ name: "All that is covered", area: all }]),
  ];
  return [
    ...districts
      .filter(({ corners }) =>
        corners.every(([latitude, longitude]) => isInAny([longitude, latitude], polygons)),
      )
      .map(exampleOf),
    // The middle of a city may have one density, where all of it has many.
    ...(all !== undefined && isSmall(boxOf(largest)) && isWithin(all, largest) ? own.toReversed() : own),
  ].filter(({ area }) => areaWidth(area) < 180);
}

function exampleOf({ name, corners }: District): Example {
  return { name, area: areaOf(corners.map(([latitude, longitude]) => ({ latitude, longitude }))) };
}

type Polygon = Coverage["coordinates"][number];
type Place = readonly [longitude: number, latitude: number];

/** The box around a polygon, which does not cross the antimeridian. */
function boxOf([outer = []]: Polygon): Box {
  const longitudes = outer.map(([longitude = 0]) => longitude);
  const latitudes = outer.map(([, latitude = 0]) => latitude);
  return {
    west: Math.min(...longitudes),
    south: Math.min(...latitudes),
    east: Math.max(...longitudes),
    north: Math.max(...latitudes),
  };
}

function sizeOf({ west, south, east, north }: Box): number {
  return (east - west) * (north - south);
}

/** An edge of 180 degrees or more would run the other way around the world. */
function areaWidth({ boundary }: Area): number {
  const longitudes = boundary.map(({ longitude }) => longitude);
  return Math.max(...longitudes) - Math.min(...longitudes);
}

function isInAny(place: Place, polygons: readonly Polygon[]): boolean {
  return polygons.some((polygon) => isIn(place, polygon));
}

/** Whether a ray to the east crosses the rings an odd number of times: a hole is not in its polygon. */
function isIn([longitude, latitude]: Place, polygon: Polygon): boolean {
  return crossingsOf(polygon, latitude).filter((crossing) => crossing > longitude).length % 2 === 1;
}

/** The longitudes at which a parallel crosses the rings of a polygon, ascending. */
function crossingsOf(polygon: Polygon, latitude: number): number[] {
  const crossings: number[] = [];
  for (const ring of polygon) {
    for (const [index, [longitude = 0, from = 0]] of ring.entries()) {
      const [nextLongitude = longitude, to = from] = ring[index + 1] ?? [];
      if (from > latitude === to > latitude) continue;
      crossings.push(longitude + ((latitude - from) / (to - from)) * (nextLongitude - longitude));
    }
  }
  return crossings.sort((one, other) => one - other);
}

/** A rectangle around the middle of the widest part of a polygon at half its height, as large as fits in it. */
function middleOf(polygon: Polygon): Area | undefined {
  const { south, north } = boxOf(polygon);
  const latitude = (south + north) / 2;
  const crossings = crossingsOf(polygon, latitude);
  const spans = crossings
    .flatMap((west, index) => (index % 2 === 0 ? [{ west, east: crossings[index + 1] ?? west }] : []))
    .sort((one, other) => other.east - other.west - (one.east - one.west));
  const [widest] = spans;
  if (widest === undefined) return undefined;
  for (let share = 0.3; share > 0.005; share /= 2) {
    const area = rectangle({ ...widest, south, north }, share);
    if (isWithin(area, polygon)) return area;
  }
  return undefined;
}

function isWithin({ boundary }: Area, polygon: Polygon): boolean {
  return boundary.every(({ latitude, longitude }) => isIn([longitude, latitude], polygon));
}

/** Whether a box is not larger than a city. */
function isSmall({ west, south, east, north }: Box): boolean {
  return Math.max(east - west, north - south) <= 0.2;
}

/** A rectangle with the middle of a box, and a share of its width and height. */
function rectangle({ west, south, east, north }: Box, share: number): Area {
  const [halfWidth, halfHeight] = [((east - west) / 2) * share, ((north - south) / 2) * share];
  const [x, y] = [(west + east) / 2, (north + south) / 2];
  return areaOf([
    { longitude: x - halfWidth, latitude: y - halfHeight },
    { longitude: x + halfWidth, latitude: y - halfHeight },
    { longitude: x + halfWidth, latitude: y + halfHeight },
    { longitude: x - halfWidth, latitude: y + halfHeight },
  ]);
}
