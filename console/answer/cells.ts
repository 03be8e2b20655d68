/** The cells of an answer: where they are, and what is known of them in each hour. */
import { cellOf, gridOf } from "../../functions/population-density/cover/geohash.ts";
import { cellArea } from "../../functions/population-density/import/cell-area.ts";

/** What the API says of a cell in an hour. */
type DataType = "NO_DATA" | "LOW_DENSITY" | "DENSITY_ESTIMATION";

/** The body of `POST /populationdensitydata/retrieve`. */
export interface DensityBody {
  readonly status: string;
  readonly timedPopulationDensityData: readonly {
    readonly startTime: string;
    readonly endTime: string;
    readonly cellPopulationDensityData: readonly {
      readonly geohash: string;
      readonly dataType: DataType;
      readonly pplDensity?: number;
      readonly minPplDensity?: number;
      readonly maxPplDensity?: number;
    }[];
  }[];
}

/** One cell in one hour; the numbers are people per km². */
export interface Value {
  readonly dataType: DataType;
  readonly density?: number;
  readonly min?: number;
  readonly max?: number;
}

/** One hour of an answer. */
interface Hour {
  readonly start: Date;
  readonly end: Date;
  /** In the order of the answer's cells. */
  readonly values: readonly Value[];
  readonly counts: Readonly<Record<DataType, number>>;
  /** Density times area, of all cells whose density is published. */
  readonly people: number;
}

/** An answer by hour. */
export interface Densities {
  readonly status: string;
  readonly geohashes: readonly string[];
  readonly hours: readonly Hour[];
}

/** Reads an answer; the cells are the same in every hour. */
export function densitiesOf({ status, timedPopulationDensityData }: DensityBody): Densities {
  const geohashes = (timedPopulationDensityData[0]?.cellPopulationDensityData ?? []).map(
    ({ geohash }) => geohash,
  );
  const areas = geohashes.map(cellArea);
  const hours = timedPopulationDensityData.map(({ startTime, endTime, cellPopulationDensityData }) => {
    const counts = { NO_DATA: 0, LOW_DENSITY: 0, DENSITY_ESTIMATION: 0 };
    let people = 0;
    const values = cellPopulationDensityData.map(
      ({ dataType, pplDensity, minPplDensity, maxPplDensity }, index): Value => {
        counts[dataType]++;
        people += (pplDensity ?? 0) * (areas[index] ?? 0);
        return {
          dataType,
          ...(pplDensity === undefined ? {} : { density: pplDensity }),
          ...(minPplDensity === undefined ? {} : { min: minPplDensity }),
          ...(maxPplDensity === undefined ? {} : { max: maxPplDensity }),
        };
      },
    );
    return { start: new Date(startTime), end: new Date(endTime), values, counts, people };
  });
  return { status, geohashes, hours };
}

/** The edges of a cell, in degrees. */
export function boundsOf(geohash: string): {
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
} {
  const { row, column } = cellOf(geohash);
  const { cellHeight, cellWidth } = gridOf(geohash.length);
  const south = -90 + row * cellHeight;
  const west = -180 + column * cellWidth;
  return { west, south, east: west + cellWidth, north: south + cellHeight };
}

/** The area of a cell in km². */
export { cellArea };

/** The ring of a cell as GeoJSON has it, counter-clockwise. */
export function ringOf(geohash: string): [number, number][] {
  const { west, south, east, north } = boundsOf(geohash);
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
}

/** Width and height of the cells of a precision at a latitude, in metres. */
export function cellSize(
  precision: number,
  latitude: number,
): { readonly width: number; readonly height: number } {
  const { cellWidth, cellHeight } = gridOf(precision);
  const metresPerDegree = 111_320;
  return {
    width: cellWidth * metresPerDegree * Math.cos((latitude * Math.PI) / 180),
    height: cellHeight * metresPerDegree,
  };
}
