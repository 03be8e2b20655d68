/** The land that the console draws where cells are: that of Natural Earth at 1 : 10 million. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type * as topojson from "topojson-specification";
import { gridOf } from "../../../functions/population-density/cover/geohash.ts";

const require = createRequire(import.meta.url);

/** Cells of a grid: whole rows from the south, and columns from the west, which may go on beyond ±180 degrees. */
interface CellWindow {
  readonly row: number;
  readonly rows: number;
  readonly column: number;
  readonly columns: number;
}

/** As the file has it. */
interface Coasts {
  readonly objects: { readonly land: { readonly geometries: readonly topojson.MultiPolygon[] } };
  readonly arcs: readonly topojson.Arc[];
  readonly transform: topojson.Transform;
}

type Position = readonly [longitude: number, latitude: number];

type Edge = readonly [from: Position, to: Position];

const bandsPerDegree = 8;

/** Of larger cells, points no farther from each other are looked at, but at most 8 × 8. */
const [sampleDegrees, mostSamples] = [0.0014, 8];

/** Of latitude. */
export const kilometresPerDegree = 111.2;

/** Land between two latitudes, none of it south of 60° S. */
export class Land {
  /** The edges of coasts by the bands of latitude that they touch. */
  readonly #bands = new Map<number, Edge[]>();

  static async between(south: number, north: number): Promise<Land> {
    const text = await readFile(require.resolve("world-atlas/countries-10m.json"), "utf8");
    const topology = JSON.parse(text) as Coasts;
    const [, latitudeScale] = topology.transform.scale;
    const [, southmost] = topology.transform.translate;
    const isNear = topology.arcs.map((arc) => {
      let [steps, low, high] = [0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
      for (const [, step = 0] of arc) {
        steps += step;
        [low, high] = [Math.min(low, steps), Math.max(high, steps)];
      }
      return low * latitudeScale + southmost <= north && high * latitudeScale + southmost >= south;
    });
    const land = new Land();
    // All of it would take a second.
    for (const ring of topology.objects.land.geometries.flatMap(({ arcs }) => arcs.flat())) {
      if (ring.some((arc) => isNear[arc < 0 ? ~arc : arc]))
        land.#add(ringOf(ring, topology), Math.max(south, -60), north);
    }
    return land;
  }

  #add(jumping: readonly Position[], south: number, north: number): void {
    // Their longitudes jump from 180 degrees to −180: here they continue.
    let before = jumping[0]?.[0] ?? 0;
    const ring = jumping.map(([longitude, latitude]): Position => {
      before = longitude + 360 * Math.round((before - longitude) / 360);
      return [before, latitude];
    });
    // One that goes beyond 180 degrees is there twice.
    const isBeyond = ring.some(([longitude]) => Math.abs(longitude) > 175);
    for (const turn of isBeyond ? [-360, 0, 360] : [0]) {
      for (const [index, [longitude, latitude]] of ring.entries()) {
        const [toLongitude, toLatitude] = ring[index + 1] ?? [longitude, latitude];
        const [low, high] = [Math.min(latitude, toLatitude), Math.max(latitude, toLatitude)];
        if (high < south || low > north) continue;
        const edge: Edge = [
          [longitude + turn, latitude],
          [toLongitude + turn, toLatitude],
        ];
        for (let band = bandOf(low); band <= bandOf(high); band++) {
          const edges = this.#bands.get(band) ?? [];
          this.#bands.set(band, edges);
          edges.push(edge);
        }
      }
    }
  }

  /** Where land begins and ends along a parallel, ascending. */
  #crossingsAt(latitude: number): number[] {
    const crossings: number[] = [];
    for (const [[x1, y1], [x2, y2]] of this.#bands.get(bandOf(latitude)) ?? []) {
      if (y1 > latitude !== y2 > latitude) crossings.push(x1 + ((latitude - y1) / (y2 - y1)) * (x2 - x1));
    }
    return crossings.sort((one, other) => one - other);
  }

  has([longitude, latitude]: Position): boolean {
    return this.#crossingsAt(latitude).filter((crossing) => crossing > longitude).length % 2 === 1;
  }

  /** The position on a coast that is nearest to one in the sea; undefined if none is within some kilometres. */
  nearestTo([longitude, latitude]: Position, kilometres: number): Position | undefined {
    const degrees = kilometres / kilometresPerDegree;
    const narrowing = Math.cos((latitude * Math.PI) / 180);
    let [nearest, least]: [Position | undefined, number] = [undefined, degrees];
    for (let band = bandOf(latitude - degrees); band <= bandOf(latitude + degrees); band++) {
      for (const [[x1, y1], [x2, y2]] of this.#bands.get(band) ?? []) {
        const [x, y] = [(x1 - longitude) * narrowing, y1 - latitude];
        const [wide, high] = [(x2 - x1) * narrowing, y2 - y1];
        const along = -(x * wide + y * high) / (wide * wide + high * high || 1);
        const part = Math.min(Math.max(along, 0), 1);
        const distance = Math.hypot(x + part * wide, y + part * high);
        if (distance > least) continue;
        nearest = [x1 + part * (x2 - x1), y1 + part * (y2 - y1)];
        least = distance;
      }
    }
    return nearest;
  }

  /** How much of each cell is land, row by row: of small ones all or nothing, by their middle. */
  sharesOf(precision: number, { row, rows, column, columns }: CellWindow): Float32Array {
    const { cellHeight, cellWidth } = gridOf(precision);
    const samples = Math.min(mostSamples, Math.ceil(Math.max(cellHeight, cellWidth) / sampleDegrees));
    const shares = new Float32Array(rows * columns);
    const sampleAt = (longitude: number) =>
      Math.ceil(((longitude + 180) / cellWidth - column) * samples - 0.5);
    for (let line = 0; line < rows * samples; line++) {
      const crossings = this.#crossingsAt((row + (line + 0.5) / samples) * cellHeight - 90);
      const start = Math.floor(line / samples) * columns;
      for (let index = 0; index + 1 < crossings.length; index += 2) {
        const [from = 0, to = 0] = [crossings[index], crossings[index + 1]];
        const end = Math.min(sampleAt(to), columns * samples);
        for (let sample = Math.max(sampleAt(from), 0); sample < end; sample++) {
          const cell = start + Math.floor(sample / samples);
          shares[cell] = (shares[cell] ?? 0) + 1 / samples ** 2;
        }
      }
    }
    return shares;
  }
}

/** The positions of a ring, which is made of arcs of whole steps; one with a negative number runs backwards. */
function ringOf(ring: readonly number[], { arcs, transform: { scale, translate } }: Coasts): Position[] {
  return ring.flatMap((number) => {
    let [x, y] = [0, 0];
    const arc = (arcs[number < 0 ? ~number : number] ?? []).map(([east = 0, north = 0]): Position => {
      [x, y] = [x + east, y + north];
      return [x * scale[0] + translate[0], y * scale[1] + translate[1]];
    });
    return number < 0 ? arc.reverse() : arc;
  });
}

function bandOf(latitude: number): number {
  return Math.floor(latitude * bandsPerDegree);
}
