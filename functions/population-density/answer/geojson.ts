import { maximumCodeOf, minimumCodeOf, noDataCode, suppressedCode, TileHour } from "../tiles/tile-hour.ts";
import {
  type Ascii,
  asciiOf,
  commaByte,
  type LastCharacters,
  lastCharactersOf,
  maxShareBytes,
  putAscii,
  putDensity,
  putShare,
  timeOf,
} from "./ascii.ts";
import {
  type CellPositions,
  cellPositionsOf,
  edgesOf,
  jsonRing,
  putRing,
  type TileDegrees,
} from "./cell-positions.ts";
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
  const positions = cellPositionsOf(precision);
  const slots = {
    values: new Uint16Array(hours.length),
    minima: new Uint16Array(hours.length),
    maxima: new Uint16Array(hours.length),
  };
  const wholeShares = asciiOf("1,".repeat(hours.length));
  let anyFeature = false;
  for (const [tileIndex, tile] of tiles.entries()) {
    if (hours.length === 0) break;
    const opened: TileHour[] = [];
    for (const hourIndex of hours.keys()) {
      const hour = openHour(tileIndex, hourIndex);
      opened.push((hour instanceof Promise ? await hour : hour) ?? hourWithoutData);
    }
    const isWhole = opened.every(({ shares }) => shares === undefined);
    const shares = isWhole ? wholeShares : undefined;
    const texts = featureTextsOf(tile.geohash, precision, positions, timesOf(tileIndex), shares);
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

/** `"DENSITY_ESTIMATION",`, `"OBSERVED",`, three numbers of 13 digits and a share, each with a comma. */
const maxSlotBytes = 21 + 11 + 3 * 14 + maxShareBytes + 1;

const geometry = asciiOf('","geometry":{"type":"Polygon","coordinates":[[[');

const beforeProperties = ']]]},"properties":{"geohash":"';

const noData = asciiOf('"NO_DATA",');
const lowDensity = asciiOf('"LOW_DENSITY",');
const estimation = asciiOf('"DENSITY_ESTIMATION",');
const value = asciiOf('],"pplDensity":[');
const minimum = asciiOf('],"minPplDensity":[');
const maximum = asciiOf('],"maxPplDensity":[');
const coveredShare = asciiOf('],"coveredShare":[');
// The words of what most values have, one by one, as in `json.ts`.
const [estimation0 = 0, estimation1 = 0, estimation2 = 0] = estimation.words;
const featureEnd = asciiOf("]}}");
const noShare = 0x2c30; // "0,"
const wholeShare = 0x2c31; // "1,"

/** What is written around the values of a tile's cells. */
interface FeatureTexts {
  readonly start: Ascii;
  readonly properties: Ascii;
  readonly times: Ascii;
  readonly last: LastCharacters;
  readonly positions: CellPositions;
  readonly edges: TileDegrees;
  /** The shares of a cell with data in every hour; undefined for a tile with cells that are not covered as a whole. */
  readonly wholeShares: Ascii | undefined;
}

function featureTextsOf(
  geohash: string,
  precision: number,
  positions: CellPositions,
  times: Ascii,
  wholeShares: Ascii | undefined,
): FeatureTexts {
  return {
    start: asciiOf(`{"type":"Feature","id":"${geohash}`),
    properties: asciiOf(`${beforeProperties}${geohash}`),
    times,
    last: lastCharactersOf(precision),
    positions,
    edges: edgesOf(geohash, precision),
    wholeShares,
  };
}

/** Writes the features of `cells` from index `from` to index `to`, each with a comma after it; returns their end. */
function putFeatures(
  view: DataView,
  begin: number,
  { start, properties, times, last, positions, edges, wholeShares }: FeatureTexts,
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
    const row = positions.rows[cell] ?? 0;
    const column = positions.columns[cell] ?? 0;
    at = putAscii(view, at, start);
    view.setUint16(at, characters, true);
    at = putAscii(view, at + last.length, geometry);
    at = putRing(view, at, edges, row, column, jsonRing);
    at = putAscii(view, at, properties);
    view.setUint16(at, characters, true);
    at = putAscii(view, at + last.length, times);
    at = putSlots(view, at, hours, slots, cell, wholeShares);
    view.setUint8(at++, commaByte);
  }
  return at;
}

/** The codes of one cell's values in every hour: read from the tile's hours once, written as an array each. */
interface Slots {
  readonly values: Uint16Array;
  readonly minima: Uint16Array;
  readonly maxima: Uint16Array;
}

/** Writes the five arrays of a cell and the end of its feature. There is at least one hour. */
function putSlots(
  view: DataView,
  begin: number,
  hours: readonly TileHour[],
  { values, minima, maxima }: Slots,
  cell: number,
  wholeShares: Ascii | undefined,
): number {
  let at = begin;
  let hasGap = false;
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
      hasGap ||= code === noDataCode;
      at = putAscii(view, at, code === suppressedCode ? lowDensity : noData);
    }
  }
  // Each array ends where the comma behind its last value is.
  at = putNumbers(view, putAscii(view, at - 1, value), values);
  at = putNumbers(view, putAscii(view, at - 1, minimum), minima);
  at = putNumbers(view, putAscii(view, at - 1, maximum), maxima);
  at = putAscii(view, at - 1, coveredShare);
  if (wholeShares === undefined || hasGap) at = putShares(view, at, hours, values, cell);
  else at = putAscii(view, at, wholeShares);
  return putAscii(view, at - 1, featureEnd);
}

/** Writes the share of a cell in each hour, with a comma after it. @param codes of the cell's values. */
function putShares(
  view: DataView,
  begin: number,
  hours: readonly TileHour[],
  codes: Uint16Array,
  cell: number,
): number {
  let at = begin;
  for (let hour = 0; hour < hours.length; hour++) {
    const { shares } = hours[hour] ?? hourWithoutData;
    const hasData = (codes[hour] ?? noDataCode) !== noDataCode;
    if (hasData && shares !== undefined) {
      at = putShare(view, at, shares[cell]);
      view.setUint8(at++, commaByte);
    } else {
      view.setUint16(at, hasData ? wholeShare : noShare, true);
      at += 2;
    }
  }
  return at;
}

/** Writes what codes stand for, each with a comma after it. */
function putNumbers(view: DataView, begin: number, codes: Uint16Array): number {
  let at = begin;
  for (let hour = 0; hour < codes.length; hour++) at = putDensity(view, at, codes[hour] ?? noDataCode);
  return at;
}
