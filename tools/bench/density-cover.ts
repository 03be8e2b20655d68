import ngeohash from "ngeohash";
import {
  countCells,
  coverOf,
  geohashesOf,
  type Tile,
} from "../../functions/population-density/cover/cover.ts";
import { type Point, type Polygon, polygonOf } from "../../functions/population-density/cover/polygon.ts";
import { atLeast, atMost, inUnit, medianMilliseconds, type Row, shown, times } from "./bench.ts";

/** What is measured by `coverRows`. */
export const aboutCover = [
  "How fast the cells of a polygon are found: a city and a province of 15 vertices at precision 7: medians.",
  "The comparison is `ngeohash.bboxes` with a point-in-polygon test of each cell's middle. It finds other cells than the",
  "exact cover, so cells per second are compared. “Strings” are sorted geohashes; the “compact form” is the one that the",
  "service uses: tiles of 2 bytes per cell.",
].join("\n");

/** How fast the cells of a polygon are found, next to the library that comes closest. */
export function coverRows(): Row[] {
  const [city, province, sliver] = [areaOf(cityRing), areaOf(provinceRing), areaOf(sliverRing)];
  const took = medianMilliseconds({
    cityListed: () => listed(city),
    city: () => compact(city),
    cityByNgeohash: () => byNgeohash(city),
    province: () => compact(province),
    provinceByNgeohash: () => byNgeohash(province),
    provinceListed: () => listed(province),
    provinceCounted: () => countCells(province.polygon, precision),
    sliver: () => compact(sliver),
  });
  const overNgeohash = (area: Area, ours: number, theirs: number) =>
    compact(area) / ours / (byNgeohash(area).length / theirs);
  const milliseconds = inUnit("ms", 3);
  const cells = (area: Area) => inUnit("cells")(compact(area));
  return [
    shown("city", cells(city)),
    shown("province", cells(province)),
    shown("sliver of 8 degrees", cells(sliver)),
    shown("city as strings", milliseconds(took.cityListed)),
    shown("city in compact form", milliseconds(took.city)),
    shown("province in compact form", milliseconds(took.province)),
    shown("province counted", milliseconds(took.provinceCounted)),
    atLeast(
      "city as strings, cells/s over ngeohash",
      overNgeohash(city, took.cityListed, took.cityByNgeohash),
      20,
      times,
    ),
    atLeast(
      "city in compact form, cells/s over ngeohash",
      overNgeohash(city, took.city, took.cityByNgeohash),
      80,
      times,
    ),
    atLeast(
      "province in compact form, cells/s over ngeohash",
      overNgeohash(province, took.province, took.provinceByNgeohash),
      60,
      times,
    ),
    atMost("sliver in compact form, time over the city", took.sliver / took.city, 8, times),
    atLeast("province, counting over listing", took.provinceListed / took.provinceCounted, 300, times),
  ];
}

/** The precision at which the benches ask for areas. */
export const precision = 7;

interface Area {
  readonly ring: readonly Point[];
  readonly polygon: Polygon;
}

/** How far from the middle the 15 vertices of a ragged outline are, the farthest at 1. */
const outline = [1, 0.83, 0.94, 0.71, 0.9, 0.97, 0.66, 0.85, 1, 0.78, 0.92, 0.7, 0.88, 0.96, 0.8];

function ragged(latitude: number, longitude: number, degrees: number): Point[] {
  return outline.map((reach, index) => {
    const angle = (2 * Math.PI * (index + 0.3)) / outline.length;
    return {
      latitude: latitude + degrees * reach * Math.sin(angle),
      longitude: longitude + degrees * reach * Math.cos(angle),
    };
  });
}

/** The outline of the city: 15 vertices. */
export const cityRing = ragged(45.7543, 4.8612, 0.1742);
const provinceRing = ragged(41.6524, -4.7285, 0.706);
const sliverRing = [
  { latitude: 41.0012, longitude: -4.0007 },
  { latitude: 44.5009, longitude: 3.9991 },
  { latitude: 44.5033, longitude: 3.9985 },
];

/** The cover of the city in compact form, computed again. */
export function coverOfCity(): readonly Tile[] {
  const { polygon } = areaOf(cityRing);
  return coverOf(polygon, precision);
}

function areaOf(ring: readonly Point[]): Area {
  const polygon = polygonOf(ring);
  if (polygon === undefined) throw new Error("not a polygon");
  return { ring, polygon };
}

function listed({ polygon }: Area): number {
  return geohashesOf(coverOf(polygon, precision), precision).length;
}

function compact({ polygon }: Area): number {
  return coverOf(polygon, precision).reduce((sum, { cells }) => sum + cells.length, 0);
}

function byNgeohash({ ring }: Area): string[] {
  const latitudes = ring.map(({ latitude }) => latitude);
  const longitudes = ring.map(({ longitude }) => longitude);
  return ngeohash
    .bboxes(
      Math.min(...latitudes),
      Math.min(...longitudes),
      Math.max(...latitudes),
      Math.max(...longitudes),
      precision,
    )
    .filter((geohash) => isInside(ring, ngeohash.decode(geohash)));
}

function isInside(ring: readonly Point[], { latitude, longitude }: Point): boolean {
  let inside = false;
  let before = ring[ring.length - 1];
  for (const here of ring) {
    if (before !== undefined && here.latitude > latitude !== before.latitude > latitude) {
      const share = (latitude - here.latitude) / (before.latitude - here.latitude);
      if (longitude < here.longitude + share * (before.longitude - here.longitude)) inside = !inside;
    }
    before = here;
  }
  return inside;
}
