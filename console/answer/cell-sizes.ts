/** How much ground cells have, and how much of that is in the areas that were asked for. */
import { areaFromEquator, cellArea } from "../../functions/population-density/cover/cell-area.ts";
import { cellOf, gridOf } from "../../functions/population-density/cover/geohash.ts";
import { polygonOf } from "../../functions/population-density/cover/polygon.ts";
import { counted, squareKilometres, whole as wholeNumber } from "../base/numbers.ts";
import type { Area } from "../data/area.ts";
import type { Hour } from "../data/densities.ts";
import { cornersOf, crossingsAt, type Ring } from "../data/outlines.ts";

/** The ground of an answer's cells in km², in the order of the cells. */
export interface CellSizes {
  readonly whole: readonly number[];
  /** Ground in several areas counts once. */
  readonly inside: readonly number[];
  /** The number of areas. */
  readonly areas: number;
}

/** The sizes of cells that were answered for some areas. */
export function sizesOf(geohashes: readonly string[], areas: readonly Area[]): CellSizes {
  const rings = areas
    .map(({ boundary }) => polygonOf(boundary))
    .flatMap((one) => (one ? [cornersOf(one)] : []));
  return { whole: geohashes.map(cellArea), inside: insideOf(geohashes, rings), areas: areas.length };
}

/**
 * The cells with numbers in an hour, in words: `5 cells that touch the area: 84 km², of which 24 km² are in it`. Their
 * numbers are of whole cells, also where these reach beyond the area.
 */
export function cellsText({ counts, values }: Pick<Hour, "counts" | "values">, sizes: CellSizes): string {
  const sum = (areas: readonly number[]) =>
    squareKilometres(
      areas.reduce((total, area, index) => total + (values[index]?.density === undefined ? 0 : area), 0),
    );
  const count = counts.DENSITY_ESTIMATION;
  const all = counted(values.length, "cell");
  const cells = count === values.length ? all : `${wholeNumber(count)} of ${all}`;
  const isOne = sizes.areas === 1;
  const touch = `${values.length === 1 ? "touches" : "touch"} ${isOne ? "the area" : `the ${sizes.areas} areas`}`;
  const [whole, inside] = [sum(sizes.whole), sum(sizes.inside)];
  const it = isOne ? "it" : "them";
  const ground = whole === inside ? `${whole}, all in ${it}` : `${whole}, of which ${inside} are in ${it}`;
  return `${cells} that ${touch}${count === 0 ? "" : `: ${ground}`}`;
}

/** Parallels in each row of cells, at least: edges are followed in steps of an eighth of a cell. */
const parallelsInRow = 8;

type Span = readonly [west: number, east: number];

/** The km² of each cell that are in any of the polygons: sums over strips along parallels. */
function insideOf(geohashes: readonly string[], rings: readonly Ring[]): number[] {
  const inside = geohashes.map(() => 0);
  const { cellHeight, cellWidth, columns } = gridOf(geohashes[0]?.length ?? 1);
  for (const [row, indexes] of rowsOf(geohashes)) {
    for (const [from, to] of stripsOf(-90 + row * cellHeight, cellHeight, rings)) {
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

/** The latitudes of a row in strips, in each of which the edges of the polygons neither begin nor end. */
function stripsOf(south: number, height: number, rings: readonly Ring[]): Span[] {
  const corners = rings.flatMap((ring) => ring.map(([, latitude = 0]) => latitude));
  const even = Array.from(
    { length: parallelsInRow + 1 },
    (_, step) => south + (step * height) / parallelsInRow,
  );
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
