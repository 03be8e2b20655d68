import { maximumCodeOf, minimumCodeOf, noDataCode, suppressedCode, TileHour } from "../tiles/tile-hour.ts";
import {
  type Ascii,
  asciiOf,
  type LastCharacters,
  lastCharactersOf,
  putAscii,
  putDensity,
  timeOf,
} from "./ascii.ts";
import type { Basis } from "./basis.ts";
import { Chunks } from "./chunks.ts";

/** An answer and the source of its numbers. Hours are counted from 1970-01-01T00:00Z. */
export interface Answer {
  /** First member of an answer that is delivered to a sink. */
  readonly operationId?: string | undefined;
  readonly status:
    | "SUPPORTED_AREA"
    | "PART_OF_AREA_NOT_SUPPORTED"
    | "AREA_NOT_SUPPORTED"
    | "OPERATION_NOT_COMPLETED";
  /** Last member, of an answer with status `OPERATION_NOT_COMPLETED`. */
  readonly statusInfo?: string | undefined;
  /** Length of the geohashes, 1…12. */
  readonly precision: number;
  /** The cells of every interval, in the order in which they are listed. */
  readonly tiles: readonly CellsOfTile[];
  /** One interval for each; none for an answer without data. */
  readonly hours: readonly number[];
  /**
   * The stored hour of `tiles[tile]` in `hours[hour]`; undefined without data. Called once for each pair whenever the
   * answer is written, in the order in which the format lists them, when everything before is written.
   */
  readonly openHour: (tile: number, hour: number) => TileHour | undefined | Promise<TileHour | undefined>;
  /** What the same hour was made from; undefined if nothing is stored of it. No hour is unpacked for it. */
  readonly basisOf: (tile: number, hour: number) => Basis | undefined;
}

/** Cells that share all but the last two characters of their geohash; all of it at precision 1 and 2. */
export interface CellsOfTile {
  readonly geohash: string;
  /** The last two characters (at precision 1 the only one) as a number in the order of geohash. */
  readonly cells: Uint16Array;
}

/** Writes the body of an answer, in chunks as `bodyOf` does. */
export type BodyWriter = (answer: Answer, bufferPool?: Buffer[]) => AsyncGenerator<Buffer, void, undefined>;

/**
 * The body of an answer (specification 2.11): the same bytes as `JSON.stringify` of the same value, in chunks of 64 KiB
 * or less that belong to the receiver. For a body of any size, only one tile's hour and the chunks filled from it are
 * in memory at a time. A receiver that has finished with a chunk may push it to `bufferPool` to be used again;
 * otherwise the chunk stays in memory until the next garbage collection.
 */
export async function* bodyOf(
  answer: Answer,
  bufferPool: Buffer[] = [],
): AsyncGenerator<Buffer, void, undefined> {
  const { operationId, status, statusInfo, precision, tiles, hours, openHour } = answer;
  const chunks = new Chunks(bufferPool);
  const lastCharacters = lastCharactersOf(precision);
  const leading = operationId === undefined ? "" : `"operationId":${JSON.stringify(operationId)},`;
  chunks.addText(`{${leading}"status":"${status}","timedPopulationDensityData":[`);
  for (const [hourIndex, hour] of hours.entries()) {
    const times = `"startTime":"${timeOf(hour)}","endTime":"${timeOf(hour + 1)}"`;
    chunks.addText(`${hourIndex > 0 ? "," : ""}{${times},"cellPopulationDensityData":[`);
    let anyCell = false;
    for (const [tileIndex, tile] of tiles.entries()) {
      const opened = openHour(tileIndex, hourIndex);
      const tileHour = (opened instanceof Promise ? await opened : opened) ?? hourWithoutData;
      const { geohash, cells } = tile;
      const start = asciiOf(`{"geohash":"${geohash}`, 3);
      chunks.addItems(cells.length, maxCellBytes, (view, at, from, to) =>
        putCells(view, at, start, lastCharacters, tileHour, cells, from, to),
      );
      anyCell ||= cells.length > 0;
      yield* chunks.takeFull();
    }
    if (anyCell) chunks.dropComma();
    chunks.addText("]}");
  }
  chunks.addText(statusInfo === undefined ? "]}" : `],"statusInfo":${JSON.stringify(statusInfo)}}`);
  yield* chunks.takeAll();
}

/** A density estimation with 12 characters of geohash and three numbers of 13 digits. */
const maxCellBytes = 146;

const noData = asciiOf('","dataType":"NO_DATA"},');
const lowDensity = asciiOf('","dataType":"LOW_DENSITY"},');
const density = asciiOf('","dataType":"DENSITY_ESTIMATION","pplDensity":');
const minimum = asciiOf('"minPplDensity":');
const maximum = asciiOf('"maxPplDensity":');
const cellEnd = 0x2c7d; // "},"

// The words of what every estimate has, one by one: a loop over them takes half as long again.
const [density0 = 0, density1 = 0, density2 = 0, density3 = 0, density4 = 0, density5 = 0] = density.words;
const [minimum0 = 0, minimum1 = 0] = minimum.words;
const [maximum0 = 0, maximum1 = 0] = maximum.words;

const hourWithoutData = new TileHour();

/**
 * Writes `cells` from index `from` to index `to`, each with a comma after it, and returns the offset after the last
 * comma. In plain form, for a cell with an estimate:
 *
 * ```ts
 * `${JSON.stringify({ geohash, dataType: "DENSITY_ESTIMATION", pplDensity, minPplDensity, maxPplDensity })},`
 * ```
 *
 * Texts are written as words of eight bytes. The last word of a text is filled up with zeros (·), and what follows is
 * written over them:
 *
 * ```text
 * start               {"geohas  h":"u05k  q·······
 * last characters                          q7
 * density                                    ","dataT  ype":"DE  NSITY_ES  TIMATION  ","pplDe  nsity":·
 * the density                                                                                         1250,
 * ```
 *
 * Not a method: what is compiled for the instances of a class is dropped when the last of them is.
 */
function putCells(
  view: DataView,
  start: number,
  { words, length }: Ascii,
  { characters, length: lastLength }: LastCharacters,
  { codes, below, above }: TileHour,
  cells: Uint16Array,
  from: number,
  to: number,
): number {
  const first = words[0] ?? 0;
  const second = words[1] ?? 0;
  const third = words[2] ?? 0;
  let at = start;
  for (let index = from; index < to; index++) {
    const cell = cells[index] ?? 0;
    view.setFloat64(at, first, true);
    view.setFloat64(at + 8, second, true);
    view.setFloat64(at + 16, third, true);
    view.setUint16(at + length, characters[cell] ?? 0, true);
    at += length + lastLength;
    const code = codes[cell] ?? noDataCode;
    if (code > suppressedCode) {
      view.setFloat64(at, density0, true);
      view.setFloat64(at + 8, density1, true);
      view.setFloat64(at + 16, density2, true);
      view.setFloat64(at + 24, density3, true);
      view.setFloat64(at + 32, density4, true);
      view.setFloat64(at + 40, density5, true);
      at = putDensity(view, at + density.length, code);
      view.setFloat64(at, minimum0, true);
      view.setFloat64(at + 8, minimum1, true);
      at = putDensity(view, at + minimum.length, minimumCodeOf(code, below[cell] ?? 0));
      view.setFloat64(at, maximum0, true);
      view.setFloat64(at + 8, maximum1, true);
      at = putDensity(view, at + maximum.length, maximumCodeOf(code, above[cell] ?? 0));
      // Its first byte replaces the comma after the last number.
      view.setUint16(at - 1, cellEnd, true);
      at++;
    } else {
      at = putAscii(view, at, code === suppressedCode ? lowDensity : noData);
    }
  }
  return at;
}
