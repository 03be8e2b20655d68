import { type Area, areaOf, type Box, type Point } from "./area.ts";

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

/** Example areas within the coverage: districts in it, its middle, and all of it. */
export function examplesIn(coverage: Box | undefined): readonly Example[] {
  if (coverage === undefined) return [];
  return [
    ...districts.filter((district) => isCovered(district, coverage)).map(exampleOf),
    { name: "Middle of what is covered", area: middleOf(coverage, 0.3) },
    // An edge of 180 degrees or more would run the other way around the world.
    ...(widthOf(coverage) < 180 ? [{ name: "All that is covered", area: middleOf(coverage, 0.999) }] : []),
  ];
}

function exampleOf({ name, corners }: District): Example {
  return { name, area: areaOf(corners.map(([latitude, longitude]) => ({ latitude, longitude }))) };
}

function isCovered({ corners }: District, coverage: Box): boolean {
  const { west, south, north } = coverage;
  const width = widthOf(coverage);
  return corners.every(
    ([latitude, longitude]) => latitude > south && latitude < north && (longitude - west + 360) % 360 < width,
  );
}

/** The width of a box in degrees, even across the antimeridian. */
function widthOf({ west, east }: Box): number {
  return (east - west + 360) % 360 || 360;
}

/** The middle of a box, scaled to a share of its width and height. */
function middleOf(box: Box, share: number): Area {
  const { west, south, north } = box;
  const width = widthOf(box);
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
}
