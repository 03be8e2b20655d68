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
  "The cells of a city (36,517) and of a province (593,808), polygons of 15 vertices at precision 7, are compared with",
  "`ngeohash.bboxes` and a point-in-polygon test of each cell's middle. It finds other cells than the exact cover, so cells",
  "per second are compared. A province is counted before it is listed: at 100 × that adds 1 %.",
].join("\n");

const [minCityRatio, minProvinceRatio, minCountingRatio] = [80, 60, 100];
const maxSliverRatio = 8;

/** How fast the cells of a polygon are found, next to the library that comes closest. */
export function coverRows(): Row[] {
  const [city, province, sliver] = [areaOf(cityRing), areaOf(provinceRing), areaOf(sliverRing)];
  const took = medianMilliseconds({
    city: () => covered(city),
    cityByNgeohash: () => byNgeohash(city),
    province: () => covered(province),
    provinceByNgeohash: () => byNgeohash(province),
    provinceListed: () => geohashesOf(coverOf(province.polygon, precision), precision),
    provinceCounted: () => countCells(province.polygon, precision),
    sliver: () => covered(sliver),
  });
  const overNgeohash = (area: Area, ours: number, theirs: number) =>
    covered(area) / ours / (byNgeohash(area).length / theirs);
  const [ofCity, ofProvince] = [
    overNgeohash(city, took.city, took.cityByNgeohash),
    overNgeohash(province, took.province, took.provinceByNgeohash),
  ];
  return [
    shown("cells of the city", inUnit("ms", 3)(took.city)),
    shown("cells of the province", inUnit("ms", 3)(took.province)),
    atLeast("cells of the city a second, over ngeohash", ofCity, minCityRatio, times),
    atLeast("cells of the province a second, over ngeohash", ofProvince, minProvinceRatio, times),
    atMost(
      "cells of a sliver of 8 degrees, time over the city's",
      took.sliver / took.city,
      maxSliverRatio,
      times,
    ),
    atLeast(
      "cells of the province, counting over listing",
      took.provinceListed / took.provinceCounted,
      minCountingRatio,
      times,
    ),
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
const cityRing = ragged(45.7543, 4.8612, 0.1742);
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

/** The number of an area's cells, after listing them in the form that the service uses. */
function covered({ polygon }: Area): number {
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
