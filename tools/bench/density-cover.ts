import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { polygonToCells } from "h3-js";
import ngeohash from "ngeohash";
import {
  countCells,
  coverOf,
  geohashesOf,
  type Tile,
} from "../../functions/population-density/cover/cover.ts";
import { type Point, type Polygon, polygonOf } from "../../functions/population-density/cover/polygon.ts";
import { atLeast, atMost, inUnit, median, type Row, shown, times } from "./bench.ts";

/** What is measured by `coverRows`. */
export const aboutCover = [
  "How fast the cells of a polygon are found: a city and a province of 15 vertices at precision 7.",
  "The comparisons are `ngeohash.bboxes` with a point-in-polygon test of each cell's middle, and `h3-js`",
  "`polygonToCells` at resolution 10. Each finds other cells than the exact cover, so cells per second are compared.",
  "“Strings” are sorted geohashes; the “compact form” is the one that the service uses: tiles of 2 bytes per cell.",
  "Every ratio is the median of the ratios of pairs that ran one right after the other, with a garbage collection before",
  "each.",
  "In the same run, every cover is checked: it is sorted, has no duplicates and as many cells as are counted, has every",
  "cell that `ngeohash` finds, and no other cell that is more than a cell away from the boundary.",
].join("\n");

/** How fast the cells of a polygon are found, next to the libraries that come closest. */
export function coverRows(): Row[] {
  const [city, province, sliver] = [
    measuredArea(cityRing),
    measuredArea(provinceRing),
    measuredArea(sliverRing),
  ];
  const cells = { city: check(city), province: check(province), sliver: check(sliver) };
  expectBetween("the city", cells.city, 36_000, 37_000);
  expectBetween("the province", cells.province, 590_000, 610_000);
  const listedCity = () => listed(city);
  const compactCity = () => compact(city);
  const overNgeohash = compare(listedCity, () => byNgeohash(city).length, 21);
  const overH3 = compare(listedCity, () => byH3(city), 21);
  const compactOverNgeohash = compare(compactCity, () => byNgeohash(city).length, 21);
  const compactProvince = compare(
    () => compact(province),
    () => byNgeohash(province).length,
    5,
  );
  const sliverOverCity = compare(compactCity, () => compact(sliver), 51);
  const counting = compare(
    () => countCells(province.polygon, precision),
    () => listed(province),
    31,
  );
  const found = inUnit("cells");
  const milliseconds = inUnit("ms", 3);
  return [
    shown("city", found(cells.city)),
    shown("province", found(cells.province)),
    shown("sliver of 8 degrees", found(cells.sliver)),
    shown("city as strings", milliseconds(overNgeohash.milliseconds)),
    shown("city in compact form", milliseconds(compactOverNgeohash.milliseconds)),
    shown("province in compact form", milliseconds(compactProvince.milliseconds)),
    shown("province counted", milliseconds(counting.milliseconds)),
    atLeast("city as strings, cells/s over ngeohash", overNgeohash.rate, 20, times),
    atLeast("city as strings, cells/s over h3-js", overH3.rate, 30, times),
    atLeast("city in compact form, cells/s over ngeohash", compactOverNgeohash.rate, 80, times),
    atLeast("province in compact form, cells/s over ngeohash", compactProvince.rate, 60, times),
    atMost("sliver in compact form, time over the city", sliverOverCity.time, 8, times),
    atLeast("province, counting over listing", counting.time, 300, times),
  ];
}

/** Of the areas that the benches ask for. */
export const precision = 7;

interface MeasuredArea {
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
  const { polygon } = measuredArea(cityRing);
  return coverOf(polygon, precision);
}

function measuredArea(ring: readonly Point[]): MeasuredArea {
  const polygon = polygonOf(ring);
  if (polygon === undefined) throw new Error("not a polygon");
  return { ring, polygon };
}

function listed({ polygon }: MeasuredArea): number {
  return geohashesOf(coverOf(polygon, precision), precision).length;
}

function compact({ polygon }: MeasuredArea): number {
  return coverOf(polygon, precision).reduce((sum, { cells }) => sum + cells.length, 0);
}

function byNgeohash({ ring }: MeasuredArea): string[] {
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

function byH3({ ring }: MeasuredArea): number {
  return polygonToCells(
    ring.map(({ latitude, longitude }) => [latitude, longitude]),
    10,
  ).length;
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

/** Asserts that a cover is right as far as other means can tell. Returns its number of cells. */
function check(area: MeasuredArea): number {
  const geohashes = geohashesOf(coverOf(area.polygon, precision), precision);
  const cover = new Set(geohashes);
  if (cover.size !== geohashes.length) throw new Error("a cell is there twice");
  if (geohashes.some((geohash, index) => index > 0 && geohash < (geohashes[index - 1] ?? ""))) {
    throw new Error("the cells are not in order");
  }
  if (countCells(area.polygon, precision) !== geohashes.length) throw new Error("the count is another");
  const certain = new Set(byNgeohash(area));
  for (const geohash of certain) if (!cover.has(geohash)) throw new Error(`${geohash} is missing`);
  for (const geohash of geohashes) {
    if (!certain.has(geohash) && !isAtBoundary(area.ring, geohash)) throw new Error(`${geohash} is too many`);
  }
  return geohashes.length;
}

/** Whether an edge comes as near to the middle of a cell as the cell's corners are. */
function isAtBoundary(ring: readonly Point[], geohash: string): boolean {
  const { latitude, longitude, error } = ngeohash.decode(geohash);
  const half = Math.hypot(error.latitude, error.longitude) * 1.000001;
  return ring.some((from, index) => {
    const to = ring[(index + 1) % ring.length] ?? from;
    const [east, north] = [to.longitude - from.longitude, to.latitude - from.latitude];
    const [x, y] = [longitude - from.longitude, latitude - from.latitude];
    const share = Math.min(1, Math.max(0, (x * east + y * north) / (east * east + north * north)));
    return Math.hypot(x - share * east, y - share * north) <= half;
  });
}

interface Comparison {
  /** Of one call of the first. */
  readonly milliseconds: number;
  /** The second's time over the first's. */
  readonly time: number;
  /** The first's results a second over the second's. */
  readonly rate: number;
}

/** Runs two functions, which return how many results they have, in turns, short ones often enough to be measured. */
function compare(first: () => number, second: () => number, pairs: number): Comparison {
  const [firstTimes, secondTimes] = [timesFor(first), timesFor(second)];
  const measured = Array.from({ length: pairs }, () => {
    const one = measure(first, firstTimes);
    const other = measure(second, secondTimes);
    return {
      milliseconds: one.milliseconds,
      time: other.milliseconds / one.milliseconds,
      rate: one.results / one.milliseconds / (other.results / other.milliseconds),
    };
  });
  return {
    milliseconds: median(measured.map(({ milliseconds }) => milliseconds)),
    time: median(measured.map(({ time }) => time)),
    rate: median(measured.map(({ rate }) => rate)),
  };
}

const minMilliseconds = 40;

/** How many calls take long enough, after enough of them for the compiler. */
function timesFor(run: () => number): number {
  measure(run, 1);
  let times = 1;
  while (measure(run, times).milliseconds * times < minMilliseconds) times *= 2;
  return times;
}

function measure(run: () => number, times: number): { milliseconds: number; results: number } {
  collectGarbage();
  let results = 0;
  const start = performance.now();
  for (let time = 0; time < times; time++) results = run();
  return { milliseconds: (performance.now() - start) / times, results };
}

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc({ type: 'minor' })");
}

function expectBetween(what: string, cells: number, min: number, max: number): void {
  if (cells < min || cells > max) throw new Error(`${what} has ${cells} cells, not ${min} to ${max}`);
}
