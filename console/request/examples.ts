import { type Area, areaOf, type Box, isSameArea } from "../data/area.ts";
import type { Coverage } from "../data/capabilities.ts";
import { boxOfRing, crossingsAt, isWithin, positionOf } from "../data/outlines.ts";
import { squareAround } from "./coordinates.ts";

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
export function districtOf(area: Area): string | undefined {
  return districts.map(exampleOf).find((one) => isSameArea(one.area, area))?.name;
}

/** Example areas within the coverage: districts in it, the middle of its largest polygon, and all of it if it has one. */
export function examplesIn(coverage: Coverage | undefined): readonly Example[] {
  const polygons = coverage?.coordinates ?? [];
  const [largest] = polygons.toSorted((one, other) => sizeOf(other) - sizeOf(one));
  if (largest === undefined) return [];
  const box = boxOfRing(largest[0] ?? []);
  const square = isSmall(box) ? squareInMiddle(box, largest) : undefined;
  const middle = square ?? middleOf(largest);
  const all = polygons.length === 1 ? rectangle(box, 0.999) : undefined;
  const own = [
    ...(middle === undefined ? [] : [{ name: "Middle of what is covered", area: middle }]),
    ...(all === undefined ? [] : [{ name: "All that is covered", area: all }]),
  ];
  return [
    ...districts
      .filter(({ corners }) =>
        corners.every(([latitude, longitude]) =>
          polygons.some((polygon) => isWithin([longitude, latitude], polygon)),
        ),
      )
      .map(exampleOf),
    // Less than the square has few cells.
    ...(all !== undefined && square === undefined && isSmall(box) && isInside(all, largest)
      ? own.toReversed()
      : own),
  ].filter(({ area }) => areaWidth(area) < 180);
}

function exampleOf({ name, corners }: District): Example {
  return { name, area: areaOf(corners.map(([latitude, longitude]) => ({ latitude, longitude }))) };
}

type Polygon = Coverage["coordinates"][number];

/** The size of the box around a polygon, which does not cross the antimeridian. */
function sizeOf([outer = []]: Polygon): number {
  const { west, south, east, north } = boxOfRing(outer);
  return (east - west) * (north - south);
}

/** An edge of 180 degrees or more would run the other way around the world. */
function areaWidth({ boundary }: Area): number {
  const longitudes = boundary.map(({ longitude }) => longitude);
  return Math.max(...longitudes) - Math.min(...longitudes);
}

/** A rectangle around the middle of the widest part of a polygon at half its height, as large as fits in it. */
function middleOf(polygon: Polygon): Area | undefined {
  const { south, north } = boxOfRing(polygon[0] ?? []);
  const latitude = (south + north) / 2;
  const crossings = crossingsAt(latitude, polygon);
  const spans = crossings
    .flatMap((west, index) => (index % 2 === 0 ? [{ west, east: crossings[index + 1] ?? west }] : []))
    .sort((one, other) => other.east - other.west - (one.east - one.west));
  const [widest] = spans;
  if (widest === undefined) return undefined;
  for (let share = 0.3; share > 0.005; share /= 2) {
    const area = rectangle({ ...widest, south, north }, share);
    if (isInside(area, polygon)) return area;
  }
  return undefined;
}

function isInside({ boundary }: Area, polygon: Polygon): boolean {
  return boundary.every((point) => isWithin(positionOf(point), polygon));
}

/** Whether a box is not larger than a city. */
function isSmall({ west, south, east, north }: Box): boolean {
  const narrowing = Math.cos((((south + north) / 2) * Math.PI) / 180);
  return Math.max((east - west) * narrowing, north - south) <= 0.2;
}

/** 4 × 4 km in the middle of a box, of which an answer may have cells of 150 m; undefined if they are not covered. */
function squareInMiddle({ west, south, east, north }: Box, polygon: Polygon): Area | undefined {
  const middle = { longitude: (west + east) / 2, latitude: (south + north) / 2 };
  if (Math.abs(middle.latitude) > 89) return undefined;
  const area = areaOf(squareAround(middle, 2));
  return isInside(area, polygon) ? area : undefined;
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
