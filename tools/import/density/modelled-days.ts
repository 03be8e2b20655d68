import type { Box } from "../../../functions/population-density/cover/box.ts";
import type { Tile } from "../../../functions/population-density/cover/cover.ts";
import type { Polygon } from "../../../functions/population-density/cover/polygon.ts";
import { coverageAt } from "../../../functions/population-density/import/coverage.ts";
import type {
  CountedDay,
  CountedHour,
  CountedTile,
} from "../../../functions/population-density/privacy/counted.ts";
import { cellsIn, coverageOf } from "../../../functions/population-density/privacy/parts.ts";
import { hoursPerDay } from "../../../functions/population-density/tiles/tile.ts";
import { cellsPerTile } from "../../../functions/population-density/tiles/tile-hour.ts";
import { hourMilliseconds } from "../../../shared/calendar.ts";

/** Days without what is modelled of them. */
interface Days {
  /** Length of the cells' geohashes. */
  readonly precision: number;
  /** `YYYY-MM-DD`, UTC. */
  readonly dates: readonly string[];
}

/** What is modelled of an area. */
export interface ModelledDays extends Days {
  /** Where people are. Called once; the same area and precision give the same layers. */
  readonly model: Model;
}

/** Where people are in a box, whose longitudes go on beyond ±180 degrees, as layers of each tile. */
export type Model = (box: Box, precision: number) => Promise<LayersOf>;

/** Where people are in the cells of a tile. */
export type LayersOf = (tile: Tile) => readonly Layer[];

/** People of a tile's covered cells, of whom a share is there at a time. */
export interface Layer {
  /** In the order of the tile's cells. */
  readonly people: Float64Array;
  /** @param middle the middle of an hour. */
  readonly shareAt: (middle: Date) => number;
}

/** Days as they might be counted in the cells that share area with any of some polygons, the same numbers each time. */
export function modelDays(
  polygons: readonly Polygon[],
  { model, ...days }: ModelledDays,
): Iterable<CountedDay> {
  const cover = coverOfAll(polygons, days.precision);
  return coveredDays(cover, { ...days, layers: () => model(boundsOf(polygons), days.precision) });
}

/** The cells that share area with any of some polygons: tiles in ascending order of geohash. */
export function coverOfAll(polygons: readonly Polygon[], precision: number): readonly Tile[] {
  return [...coverageAt({ file: "the area", polygons }, precision)]
    .map(([geohash, bits]) => ({ geohash, cells: Uint16Array.from(cellsIn(bits)) }))
    .sort((one, other) => (one.geohash < other.geohash ? -1 : 1));
}

/** The box around polygons; its longitudes go on beyond ±180 degrees, as theirs do. */
export function boundsOf(polygons: readonly Polygon[]): Box {
  const [longitudes, latitudes] = (["longitudes", "latitudes"] as const).map((axis) =>
    polygons.flatMap((polygon) => [Math.min(...polygon[axis]), Math.max(...polygon[axis])]),
  ) as [number[], number[]];
  return {
    west: Math.min(...longitudes),
    south: Math.min(...latitudes),
    east: Math.max(...longitudes),
    north: Math.max(...latitudes),
  };
}

/**
 * Days as they might be counted in some cells, the same numbers each time.
 * @param cover tiles in ascending order of geohash.
 * @param days `layers` is called once, when the first day is read.
 */
export function coveredDays(
  cover: readonly Tile[],
  { precision, dates, layers }: Days & { readonly layers: () => Promise<LayersOf> },
): Iterable<CountedDay> {
  const coverage = new Map(cover.map(({ geohash, cells }) => [geohash, coverageOf(cells)]));
  let tiles: Promise<readonly ModelledTile[]> | undefined;
  return dates.map((date) => ({
    date,
    precision,
    coverage,
    tiles: {
      async *[Symbol.asyncIterator]() {
        tiles ??= layers().then((layersOf) => cover.map((tile) => ({ ...tile, layers: layersOf(tile) })));
        for (const tile of await tiles) yield countedTile(tile, date);
      },
    },
  }));
}

interface ModelledTile extends Tile {
  readonly layers: readonly Layer[];
}

function countedTile({ geohash, cells, layers }: ModelledTile, date: string): CountedTile {
  const coverage = coverageOf(cells);
  const midnight = Date.parse(`${date}T00:00:00Z`);
  const hours = Array.from({ length: hoursPerDay }, (_, hour) => {
    const counted: CountedHour = {
      people: new Float64Array(cellsPerTile),
      min: new Float64Array(cellsPerTile),
      max: new Float64Array(cellsPerTile),
    };
    addPeople(counted, cells, layers, new Date(midnight + (hour + 0.5) * hourMilliseconds));
    return counted;
  });
  return { geohash, coverage, hours };
}

/** Adds up the layers in the middle of an hour, with a range around them. */
function addPeople(
  { people, min, max }: CountedHour,
  cells: Uint16Array,
  layers: readonly Layer[],
  middle: Date,
): void {
  const shares = layers.map(({ shareAt }) => shareAt(middle));
  for (let index = 0; index < cells.length; index++) {
    const cell = cells[index] as number;
    let there = 0;
    for (let layer = 0; layer < layers.length; layer++) {
      there += (shares[layer] as number) * ((layers[layer] as Layer).people[index] as number);
    }
    const error = relativeError * there + Math.sqrt(there);
    people[cell] = there;
    min[cell] = Math.max(there - error, 0);
    max[cell] = there + error;
  }
}

/** What an operator's own share of the people may be wrong by; the root of the people comes on top. */
const relativeError = 0.08;
