import ngeohash from "ngeohash";
import { codeAt, gridOf, tileSide } from "../cover/geohash.ts";
import {
  densityOf,
  maximumCodeOf,
  minimumCodeOf,
  noDataCode,
  suppressedCode,
  TileHour,
} from "../tiles/tile-hour.ts";
import {
  type Ascii,
  asciiOf,
  type LastCharacters,
  lastCharactersOf,
  putAscii,
  putInteger,
  timeOf,
} from "./ascii.ts";
import { Chunks, chunkBytes } from "./chunks.ts";
import type { Answer } from "./json.ts";

/**
 * An answer as a GeoJSON FeatureCollection (RFC 7946): a feature for each cell, whose values are arrays over the hours,
 * as a feature for each cell and hour would repeat the geometry. Programs may drop foreign members of a collection, so
 * each feature has `startTime` and `endTime`. Corners are those of `ngeohash.decode_bbox`, unrounded: neighbours share
 * their edges to the last digit.
 * Chunks as of `bodyOf`; one tile's hours are in memory at a time.
 * @throws {RangeError} for more hours than a chunk can hold of a cell; a week has a fifth of them.
 */
export async function* geoJsonOf(
  { status, precision, tiles, hours, openHour, basisOf }: Answer,
  bufferPool: Buffer[] = [],
): AsyncGenerator<Buffer, void, undefined> {
  const maxFeatureBytes = maxFrameBytes + hours.length * maxSlotBytes;
  if (maxFeatureBytes > chunkBytes / 2) throw new RangeError(`${hours.length} hours are too many`);
  const chunks = new Chunks(bufferPool);
  const intervals = hours.map((hour) => ({ startTime: timeOf(hour), endTime: timeOf(hour + 1) }));
  const members = { type: "FeatureCollection", status, intervals };
  chunks.addText(`${JSON.stringify(members).slice(0, -1)},"features":[`);
  const { startTime = "" } = intervals.at(0) ?? {};
  const { endTime = "" } = intervals.at(-1) ?? {};
  const timesOf = (tile: number) => {
    const basis = JSON.stringify(Array.from(hours.keys(), (hour) => basisOf(tile, hour) ?? null));
    return asciiOf(`","startTime":"${startTime}","endTime":"${endTime}","basis":${basis},"dataType":[`);
  };
  const places = placesOf(precision);
  const slots = {
    values: new Uint16Array(hours.length),
    minima: new Uint16Array(hours.length),
    maxima: new Uint16Array(hours.length),
  };
  let anyFeature = false;
  for (const [tileIndex, tile] of tiles.entries()) {
    if (hours.length === 0) break;
    const opened: TileHour[] = [];
    for (const hourIndex of hours.keys()) {
      const hour = openHour(tileIndex, hourIndex);
      opened.push((hour instanceof Promise ? await hour : hour) ?? hourWithoutData);
    }
    const texts = featureTextsOf(tile.geohash, precision, places, timesOf(tileIndex));
    chunks.addItems(tile.cells.length, maxFeatureBytes, (view, at, from, to) =>
      putFeatures(view, at, texts, opened, slots, tile.cells, from, to),
    );
    anyFeature ||= tile.cells.length > 0;
    yield* chunks.takeFull();
  }
  if (anyFeature) chunks.dropComma();
  chunks.addText("]}");
  yield* chunks.takeAll();
}

const hourWithoutData = new TileHour();

/** All of a feature but its values: two geohashes, ten coordinates of at most 25 characters, two times. */
const maxFrameBytes = 600;

/** `"DENSITY_ESTIMATION",`, `"OBSERVED",` and three numbers of 13 digits, each with a comma. */
const maxSlotBytes = 21 + 11 + 3 * 14;

const geometry = asciiOf('","geometry":{"type":"Polygon","coordinates":[[[');

const beforeProperties = ']]]},"properties":{"geohash":"';

const nextCorner = 0x5b2c5d; // "],["
const nextCornerLength = 3;

/** Of a coordinate: it has at most 25 characters, and is written without a loop. */
const edgeWords = 4;
const noEdge = asciiOf("", edgeWords);

const noData = asciiOf('"NO_DATA",');
const lowDensity = asciiOf('"LOW_DENSITY",');
const estimation = asciiOf('"DENSITY_ESTIMATION",');
const value = asciiOf('],"pplDensity":[');
const minimum = asciiOf('],"minPplDensity":[');
const maximum = asciiOf('],"maxPplDensity":[');
// The words of what most values have, one by one, as in `json.ts`.
const [estimation0 = 0, estimation1 = 0, estimation2 = 0] = estimation.words;
const featureEnd = asciiOf("]}}");
const commaByte = 0x2c;

/** Of codes below, up to 16,376 people per km², the text is at hand. */
const shortItems = 8_192;

/** What these codes stand for, with a comma, as words of `Ascii`. */
const items = Float64Array.from({ length: shortItems }, (_, code) => asciiOf(itemOf(code)).words[0] ?? 0);

/** How long each is. */
const itemLengths = Uint8Array.from({ length: shortItems }, (_, code) => itemOf(code).length);

function itemOf(code: number): string {
  return code > suppressedCode ? `${densityOf(code)},` : "null,";
}

/** What is written around the values of a tile's cells. */
interface FeatureTexts {
  readonly start: Ascii;
  readonly properties: Ascii;
  readonly times: Ascii;
  readonly last: LastCharacters;
  readonly places: Places;
  /** The edges of the rows, from the south to the north, and of the columns, from the west to the east. */
  readonly latitudes: readonly Ascii[];
  readonly longitudes: readonly Ascii[];
}

function featureTextsOf(geohash: string, precision: number, places: Places, times: Ascii): FeatureTexts {
  const [south, west] = ngeohash.decode_bbox(geohash);
  const { cellHeight, cellWidth } = gridOf(precision);
  return {
    start: asciiOf(`{"type":"Feature","id":"${geohash}`),
    properties: asciiOf(`${beforeProperties}${geohash}`),
    times,
    last: lastCharactersOf(precision),
    places,
    latitudes: edgesFrom(south, cellHeight),
    longitudes: edgesFrom(west, cellWidth),
  };
}

/**
 * The edges of a tile's rows or columns. All of it is exact: the same numbers as `ngeohash.decode_bbox` has of a cell.
 */
function edgesFrom(first: number, step: number): Ascii[] {
  return Array.from({ length: tileSide + 1 }, (_, index) => asciiOf(`${first + index * step}`, edgeWords));
}

/** The row and the column of each cell of a tile, counted from the south-west. */
interface Places {
  readonly rows: Uint8Array;
  readonly columns: Uint8Array;
}

function placesOf(precision: number): Places {
  const rows = new Uint8Array(tileSide * tileSide);
  const columns = new Uint8Array(tileSide * tileSide);
  for (let row = 0; row < tileSide; row++) {
    for (let column = 0; column < tileSide; column++) {
      const cell = codeAt(row, column, precision);
      rows[cell] = row;
      columns[cell] = column;
    }
  }
  return { rows, columns };
}

/** Writes the features of `cells` from index `from` to index `to`, each with a comma after it; returns their end. */
function putFeatures(
  view: DataView,
  begin: number,
  { start, properties, times, last, places, latitudes, longitudes }: FeatureTexts,
  hours: readonly TileHour[],
  slots: Slots,
  cells: Uint16Array,
  from: number,
  to: number,
): number {
  let at = begin;
  for (let index = from; index < to; index++) {
    const cell = cells[index] ?? 0;
    const characters = last.characters[cell] ?? 0;
    const row = places.rows[cell] ?? 0;
    const column = places.columns[cell] ?? 0;
    at = putAscii(view, at, start);
    view.setUint16(at, characters, true);
    at = putAscii(view, at + last.length, geometry);
    at = putRing(view, at, latitudes, row, longitudes, column);
    at = putAscii(view, at, properties);
    view.setUint16(at, characters, true);
    at = putAscii(view, at + last.length, times);
    at = putSlots(view, at, hours, slots, cell);
    view.setUint8(at++, commaByte);
  }
  return at;
}

/** Writes the corners of a cell, counterclockwise (RFC 7946, section 3.1.6). */
function putRing(
  view: DataView,
  begin: number,
  latitudes: readonly Ascii[],
  row: number,
  longitudes: readonly Ascii[],
  column: number,
): number {
  const south = latitudes[row] ?? noEdge;
  const north = latitudes[row + 1] ?? noEdge;
  const west = longitudes[column] ?? noEdge;
  const east = longitudes[column + 1] ?? noEdge;
  let at = putCorner(view, begin, west, south);
  at = putCorner(view, at, east, south);
  at = putCorner(view, at, east, north);
  at = putCorner(view, at, west, north);
  return putCorner(view, at, west, south) - nextCornerLength;
}

/** Writes a corner and the beginning of the next one. */
function putCorner(view: DataView, begin: number, longitude: Ascii, latitude: Ascii): number {
  let at = putEdge(view, begin, longitude);
  view.setUint8(at, commaByte);
  at = putEdge(view, at + 1, latitude);
  view.setInt32(at, nextCorner, true);
  return at + nextCornerLength;
}

function putEdge(view: DataView, at: number, { words, length }: Ascii): number {
  view.setFloat64(at, words[0] ?? 0, true);
  view.setFloat64(at + 8, words[1] ?? 0, true);
  view.setFloat64(at + 16, words[2] ?? 0, true);
  view.setFloat64(at + 24, words[3] ?? 0, true);
  return at + length;
}

/** The codes of one cell's values in every hour: read from the tile's hours once, written as an array each. */
interface Slots {
  readonly values: Uint16Array;
  readonly minima: Uint16Array;
  readonly maxima: Uint16Array;
}

/** Writes the four arrays of a cell and the end of its feature. There is at least one hour. */
function putSlots(
  view: DataView,
  begin: number,
  hours: readonly TileHour[],
  { values, minima, maxima }: Slots,
  cell: number,
): number {
  let at = begin;
  for (let hour = 0; hour < hours.length; hour++) {
    const { codes, below, above } = hours[hour] ?? hourWithoutData;
    const code = codes[cell] ?? noDataCode;
    values[hour] = code;
    if (code > suppressedCode) {
      minima[hour] = minimumCodeOf(code, below[cell] ?? 0);
      maxima[hour] = maximumCodeOf(code, above[cell] ?? 0);
      view.setFloat64(at, estimation0, true);
      view.setFloat64(at + 8, estimation1, true);
      view.setFloat64(at + 16, estimation2, true);
      at += estimation.length;
    } else {
      minima[hour] = code;
      maxima[hour] = code;
      at = putAscii(view, at, code === suppressedCode ? lowDensity : noData);
    }
  }
  // Each array ends where the comma behind its last value is.
  at = putNumbers(view, putAscii(view, at - 1, value), values);
  at = putNumbers(view, putAscii(view, at - 1, minimum), minima);
  at = putNumbers(view, putAscii(view, at - 1, maximum), maxima);
  return putAscii(view, at - 1, featureEnd);
}

/** Writes what codes stand for, each with a comma after it. */
function putNumbers(view: DataView, begin: number, codes: Uint16Array): number {
  let at = begin;
  for (let hour = 0; hour < codes.length; hour++) {
    const code = codes[hour] ?? noDataCode;
    if (code < shortItems) {
      view.setFloat64(at, items[code] ?? 0, true);
      at += itemLengths[code] ?? 0;
    } else {
      at = putInteger(view, at, densityOf(code));
      view.setUint8(at++, commaByte);
    }
  }
  return at;
}
