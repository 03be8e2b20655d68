import ngeohash from "ngeohash";
import { codeAt, suffixesOf, tileSide } from "../cover/geohash.ts";
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
import type { Answer, CellsOfTile } from "./json.ts";
import { densityOf, maximumOf, minimumOf, noDataCode, suppressedCode, TileHour } from "./tile-hour.ts";

/**
 * An answer as a GeoJSON FeatureCollection (RFC 7946): a feature for each cell, whose values are arrays over the hours.
 * Chunks as of `bodyOf`; one tile's hours are in memory at a time.
 * @throws {RangeError} for more hours than a chunk can hold of a cell; a week has a fifth of them.
 */
export async function* geoJsonOf(
  { status, precision, tiles, hours, openHour }: Answer,
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
  const frame = frameOf(startTime, endTime);
  const places = placesOf(precision);
  const slots = {
    codes: new Uint16Array(hours.length),
    below: new Uint8Array(hours.length),
    above: new Uint8Array(hours.length),
  };
  let anyFeature = false;
  for (const [tileIndex, tile] of tiles.entries()) {
    if (hours.length === 0) break;
    const opened: TileHour[] = [];
    for (const hourIndex of hours.keys()) {
      const hour = openHour(tileIndex, hourIndex);
      opened.push((hour instanceof Promise ? await hour : hour) ?? hourWithoutData);
    }
    const texts = featureTextsOf(tile, precision, places, frame);
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

/** All of a feature but its values: two geohashes, ten coordinates of at most 24 characters, two times. */
const maxFrameBytes = 600;

/** `"DENSITY_ESTIMATION",` and three numbers of 13 digits, each with a comma. */
const maxSlotBytes = 21 + 3 * 14;

const geometry = asciiOf('","geometry":{"type":"Polygon","coordinates":[[[');

const noData = asciiOf('"NO_DATA",');
const lowDensity = asciiOf('"LOW_DENSITY",');
const estimation = asciiOf('"DENSITY_ESTIMATION",');
const none = asciiOf("null,");
const value = asciiOf('],"pplDensity":[');
const minimum = asciiOf('],"minPplDensity":[');
const maximum = asciiOf('],"maxPplDensity":[');
// The words of what most values have, one by one, as in `json.ts`.
const [estimation0 = 0, estimation1 = 0, estimation2 = 0] = estimation.words;
const featureEnd = asciiOf("]}}");
const commaByte = 0x2c;

const shortItems = 10_000;

/** 0…9,999 with a comma, as words of `Ascii`. */
const items = Float64Array.from({ length: shortItems }, (_, integer) => asciiOf(`${integer},`).words[0] ?? 0);

/** How long each is. */
const itemLengths = Uint8Array.from({ length: shortItems }, (_, integer) => `${integer},`.length);

/** What the features of all tiles have in common behind their corners, and behind the geohash of their properties. */
interface Frame {
  readonly properties: string;
  readonly times: Ascii;
}

function frameOf(startTime: string, endTime: string): Frame {
  return {
    properties: ']]]},"properties":{"geohash":"',
    times: asciiOf(`","startTime":"${startTime}","endTime":"${endTime}","dataType":[`),
  };
}

/** The latitudes of cells in a row, each behind a longitude; with the beginning of the next corner. */
interface RowTexts {
  readonly south: Ascii;
  readonly southNext: Ascii;
  readonly northNext: Ascii;
}

/** The longitudes of cells in a column. */
interface ColumnTexts {
  readonly west: Ascii;
  readonly east: Ascii;
}

/** What is written around the values of a tile's cells. */
interface FeatureTexts {
  readonly start: Ascii;
  readonly properties: Ascii;
  readonly times: Ascii;
  readonly last: LastCharacters;
  readonly places: Places;
  /** Of the rows and columns, counted from the south-west, in which the tile has cells. */
  readonly rows: readonly (RowTexts | undefined)[];
  readonly columns: readonly (ColumnTexts | undefined)[];
}

function featureTextsOf(
  { geohash, cells }: CellsOfTile,
  precision: number,
  places: Places,
  { properties, times }: Frame,
): FeatureTexts {
  const suffixes = suffixesOf(precision);
  const rows: (RowTexts | undefined)[] = new Array(tileSide).fill(undefined);
  const columns: (ColumnTexts | undefined)[] = new Array(tileSide).fill(undefined);
  for (const cell of cells) {
    const [row, column] = [places.rows[cell] ?? 0, places.columns[cell] ?? 0];
    if (rows[row] !== undefined && columns[column] !== undefined) continue;
    const [south, west, north, east] = ngeohash.decode_bbox(geohash + suffixes[cell]);
    rows[row] ??= {
      south: asciiOf(`,${south}`),
      southNext: asciiOf(`,${south}],[`),
      northNext: asciiOf(`,${north}],[`),
    };
    columns[column] ??= { west: asciiOf(`${west}`), east: asciiOf(`${east}`) };
  }
  return {
    start: asciiOf(`{"type":"Feature","id":"${geohash}`),
    properties: asciiOf(properties + geohash),
    times,
    last: lastCharactersOf(precision),
    places,
    rows,
    columns,
  };
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
  { start, properties, times, last, places, rows, columns }: FeatureTexts,
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
    const row = rows[places.rows[cell] ?? 0];
    const column = columns[places.columns[cell] ?? 0];
    if (row === undefined || column === undefined) throw new Error("a cell without a box");
    at = putAscii(view, at, start);
    view.setUint16(at, characters, true);
    at = putAscii(view, at + last.length, geometry);
    at = putBox(view, at, column, row);
    at = putAscii(view, at, properties);
    view.setUint16(at, characters, true);
    at = putAscii(view, at + last.length, times);
    at = putSlots(view, at, hours, slots, cell);
    view.setUint8(at++, commaByte);
  }
  return at;
}

/** Writes a linear ring, counterclockwise (RFC 7946, section 3.1.6). */
function putBox(
  view: DataView,
  begin: number,
  { west, east }: ColumnTexts,
  { south, southNext, northNext }: RowTexts,
): number {
  let at = putAscii(view, begin, west);
  at = putAscii(view, putAscii(view, at, southNext), east);
  at = putAscii(view, putAscii(view, at, southNext), east);
  at = putAscii(view, putAscii(view, at, northNext), west);
  at = putAscii(view, putAscii(view, at, northNext), west);
  return putAscii(view, at, south);
}

/** The values of one cell in every hour: read from the tile's hours once, written four times. */
interface Slots {
  readonly codes: Uint16Array;
  readonly below: Uint8Array;
  readonly above: Uint8Array;
}

/** Writes the four arrays of a cell and the end of its feature. There is at least one hour. */
function putSlots(
  view: DataView,
  begin: number,
  hours: readonly TileHour[],
  { codes, below, above }: Slots,
  cell: number,
): number {
  let at = begin;
  for (let hour = 0; hour < hours.length; hour++) {
    const tileHour = hours[hour] ?? hourWithoutData;
    const code = tileHour.codes[cell] ?? noDataCode;
    codes[hour] = code;
    if (code === noDataCode) {
      at = putAscii(view, at, noData);
    } else if (code === suppressedCode) {
      at = putAscii(view, at, lowDensity);
    } else {
      below[hour] = tileHour.below[cell] ?? 0;
      above[hour] = tileHour.above[cell] ?? 0;
      view.setFloat64(at, estimation0, true);
      view.setFloat64(at + 8, estimation1, true);
      view.setFloat64(at + 16, estimation2, true);
      at += estimation.length;
    }
  }
  // Each array ends where the comma behind its last value is.
  at = putAscii(view, at - 1, value);
  for (let hour = 0; hour < hours.length; hour++) {
    const code = codes[hour] ?? noDataCode;
    at = code > suppressedCode ? putItem(view, at, densityOf(code)) : putAscii(view, at, none);
  }
  at = putAscii(view, at - 1, minimum);
  for (let hour = 0; hour < hours.length; hour++) {
    const code = codes[hour] ?? noDataCode;
    at =
      code > suppressedCode ? putItem(view, at, minimumOf(code, below[hour] ?? 0)) : putAscii(view, at, none);
  }
  at = putAscii(view, at - 1, maximum);
  for (let hour = 0; hour < hours.length; hour++) {
    const code = codes[hour] ?? noDataCode;
    at =
      code > suppressedCode ? putItem(view, at, maximumOf(code, above[hour] ?? 0)) : putAscii(view, at, none);
  }
  return putAscii(view, at - 1, featureEnd);
}

/** Writes an integer and a comma. */
function putItem(view: DataView, at: number, integer: number): number {
  if (integer < shortItems) {
    view.setFloat64(at, items[integer] ?? 0, true);
    return at + (itemLengths[integer] ?? 0);
  }
  const end = putInteger(view, at, integer);
  view.setUint8(end, commaByte);
  return end + 1;
}
