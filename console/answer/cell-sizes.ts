/** How much ground cells have, and how much of that is in the areas that were asked for: what their numbers say of these. */
import { areaFromEquator, cellArea } from "../../functions/population-density/cover/cell-area.ts";
import { cellOf, gridOf } from "../../functions/population-density/cover/geohash.ts";
import { polygonOf } from "../../functions/population-density/cover/polygon.ts";
import type { Area } from "../data/area.ts";
import type { Densities } from "../data/densities.ts";
import { boxOfRing, cornersOf, crossingsAt, type Ring } from "../data/outlines.ts";

/** The ground of an answer's cells in km², in the order of the cells. */
export interface CellSizes {
  readonly whole: readonly number[];
  /** That in the areas, as far as it is covered. Ground in several areas counts once. */
  readonly inside: readonly number[];
  /** A cell's density times this is its people in the areas, as if they were spread evenly over its covered ground. */
  readonly weights: readonly number[];
  /** That of the areas, also outside of all cells. */
  readonly asked: number;
}

/** The sizes of cells that were answered for some areas. */
export function sizesOf(
  { geohashes, coveredShares }: Pick<Densities, "geohashes" | "coveredShares">,
  areas: readonly Area[],
): CellSizes {
  const whole = geohashes.map(cellArea);
  const ground = insideOf(geohashes, ringsOf(areas));
  const weights = whole.map((size, index) =>
    Math.min(size, (ground[index] ?? 0) / (coveredShares[index] || 1)),
  );
  const inside = weights.map((weight, index) => weight * (coveredShares[index] ?? 1));
  return { whole, inside, weights, asked: groundOf(areas) };
}

/** The ground of areas in km²; what several of them have in common counts once. */
export function groundOf(areas: readonly Area[]): number {
  const rings = ringsOf(areas);
  const { south, north } = boxOfRing(rings.flat());
  return stripsOf(south, north - south, rings, parallelsInAreas).reduce((sum, [from, to]) => {
    const degrees = spansAt((from + to) / 2, rings).reduce((all, [west, east]) => all + east - west, 0);
    return sum + degrees * (areaFromEquator(to) - areaFromEquator(from));
  }, 0);
}

function ringsOf(areas: readonly Area[]): Ring[] {
  return areas.map(({ boundary }) => polygonOf(boundary)).flatMap((one) => (one ? [cornersOf(one)] : []));
}

/** Parallels in each row of cells, at least: edges are followed in steps of an eighth of a cell. */
const parallelsInRow = 8;

/** Parallels in all areas together, at least. */
const parallelsInAreas = 256;

type Span = readonly [west: number, east: number];

/** The km² of each cell that are in any of the polygons: sums over strips along parallels. */
function insideOf(geohashes: readonly string[], rings: readonly Ring[]): number[] {
  const inside = geohashes.map(() => 0);
  const { cellHeight, cellWidth, columns } = gridOf(geohashes[0]?.length ?? 1);
  for (const [row, indexes] of rowsOf(geohashes)) {
    for (const [from, to] of stripsOf(-90 + row * cellHeight, cellHeight, rings, parallelsInRow)) {
      const squareKmOfDegree = areaFromEquator(to) - areaFromEquator(from);
      for (const [west, east] of spansAt((from + to) / 2, rings)) {
        const last = Math.ceil((east + 180) / cellWidth);
        for (let column = Math.floor((west + 180) / cellWidth); column < last; column++) {
          const index = indexes.get(column % columns);
          if (index === undefined) continue;
          const start = -180 + column * cellWidth;
          const width = Math.min(east, start + cellWidth) - Math.max(west, start);
          inside[index] = (inside[index] ?? 0) + width * squareKmOfDegree;
        }
      }
    }
  }
  return inside;
}

/** The indexes of the cells of each row, by their columns. */
function rowsOf(geohashes: readonly string[]): Map<number, Map<number, number>> {
  const rows = new Map<number, Map<number, number>>();
  for (const [index, geohash] of geohashes.entries()) {
    const { row, column } = cellOf(geohash);
    rows.set(row, (rows.get(row) ?? new Map()).set(column, index));
  }
  return rows;
}

/** Latitudes in strips, in each of which the edges of the polygons neither begin nor end. @param parallels at least */
function stripsOf(south: number, height: number, rings: readonly Ring[], parallels: number): Span[] {
  const corners = rings.flatMap((ring) => ring.map(([, latitude = 0]) => latitude));
  const even = Array.from({ length: parallels + 1 }, (_, step) => south + (step * height) / parallels);
  const within = corners.filter((latitude) => latitude > south && latitude < south + height);
  const ends = [...new Set([...even, ...within])].sort((one, other) => one - other);
  return ends.slice(1).map((to, index) => [ends[index] ?? to, to]);
}

/** Where a parallel is in any of the polygons, from −180 degrees on; spans go on beyond 180. */
function spansAt(latitude: number, rings: readonly Ring[]): Span[] {
  const spans = rings.flatMap((ring) => {
    const crossings = crossingsAt(latitude, [ring]);
    return crossings.flatMap((west, index) => {
      const east = crossings[index + 1] ?? west;
      const turns = 360 * Math.floor((west + 180) / 360);
      return index % 2 === 0 ? [[west - turns, east - turns] as const] : [];
    });
  });
  return merged(spans.flatMap(splitAtAntimeridian));
}

function splitAtAntimeridian([west, east]: Span): Span[] {
  if (east <= 180) return [[west, east]];
  return [
    [west, 180],
    [-180, east - 360],
  ];
}

function merged(spans: readonly Span[]): Span[] {
  const apart: Span[] = [];
  for (const [west, east] of spans.toSorted(([one], [other]) => one - other)) {
    const before = apart.at(-1);
    if (before === undefined || west > before[1]) apart.push([west, east]);
    else apart[apart.length - 1] = [before[0], Math.max(before[1], east)];
  }
  return apart;
}
