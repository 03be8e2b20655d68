import { densityOf, maximumOf, minimumOf, noDataCode, suppressedCode, TileHour } from "./tile-hour.ts";

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
   * The stored hour of `tiles[tile]` in `hours[hour]`; undefined without data. Called once for each pair, hour by hour
   * and within it tile by tile, when everything before the pair is written.
   */
  readonly openHour: (tile: number, hour: number) => TileHour | undefined | Promise<TileHour | undefined>;
}

/** Cells that share all but the last two characters of their geohash; all of it at precision 1 and 2. */
export interface CellsOfTile {
  readonly geohash: string;
  /** The last two characters (at precision 1 the only one) as a number in the order of geohash. */
  readonly cells: Uint16Array;
}

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
  const chunks = new Chunks(precision, bufferPool);
  const leading = operationId === undefined ? "" : `"operationId":${JSON.stringify(operationId)},`;
  chunks.addText(`{${leading}"status":"${status}","timedPopulationDensityData":[`);
  for (const [hourIndex, hour] of hours.entries()) {
    const times = `"startTime":"${timeOf(hour)}","endTime":"${timeOf(hour + 1)}"`;
    chunks.addText(`${hourIndex > 0 ? "," : ""}{${times},"cellPopulationDensityData":[`);
    let anyCell = false;
    for (const [tileIndex, tile] of tiles.entries()) {
      const opened = openHour(tileIndex, hourIndex);
      chunks.addCells(tile, opened instanceof Promise ? await opened : opened);
      anyCell ||= tile.cells.length > 0;
      yield* chunks.takeFull();
    }
    if (anyCell) chunks.dropComma();
    chunks.addText("]}");
  }
  chunks.addText(statusInfo === undefined ? "]}" : `],"statusInfo":${JSON.stringify(statusInfo)}}`);
  yield* chunks.takeAll();
}

const millisecondsPerHour = 3_600_000;

function timeOf(hour: number): string {
  return `${new Date(hour * millisecondsPerHour).toISOString().slice(0, 19)}Z`;
}

const chunkBytes = 65_536;

/** A density estimation with 12 characters of geohash and three numbers of 13 digits. */
const maxCellBytes = 146;

/** As far beyond its end is written while a cell is. */
const cellOverrun = 8;

/** ASCII text to be written eight bytes at once, as far as 64-bit words go: the last one is filled up with zeros. */
interface Ascii {
  /** No word is NaN, which might be written as another NaN: that takes bytes which are not ASCII. */
  readonly words: Float64Array;
  readonly length: number;
}

function asciiOf(text: string, wordCount = Math.ceil(text.length / 8)): Ascii {
  const words = new Float64Array(wordCount);
  const bytes = Buffer.alloc(8 * words.length);
  bytes.write(text, "latin1");
  for (const index of words.keys()) words[index] = bytes.readDoubleLE(8 * index);
  return { words, length: text.length };
}

const noData = asciiOf('","dataType":"NO_DATA"},');
const lowDensity = asciiOf('","dataType":"LOW_DENSITY"},');
const density = asciiOf('","dataType":"DENSITY_ESTIMATION","pplDensity":');
const minimum = asciiOf(',"minPplDensity":');
const maximum = asciiOf(',"maxPplDensity":');
const cellEnd = 0x2c7d; // "},"

// The words of what every estimate has, one by one: a loop over them takes half as long again.
const [density0 = 0, density1 = 0, density2 = 0, density3 = 0, density4 = 0, density5 = 0] = density.words;
const [minimum0 = 0, minimum1 = 0, minimum2 = 0] = minimum.words;
const [maximum0 = 0, maximum1 = 0, maximum2 = 0] = maximum.words;

const characters = Array.from("0123456789bcdefghjkmnpqrstuvwxyz", (character) => character.charCodeAt(0));

/** The last two characters of each cell, the first of them in the lower byte. */
const pairsOfLetters = Uint16Array.from(
  { length: 1_024 },
  (_, cell) => letter(cell >> 5) | (letter(cell & 31) << 8),
);

/** The only character of each cell at precision 1. */
const letters = Uint16Array.from(characters);

function letter(index: number): number {
  return characters[index] ?? 0;
}

/** 0…9,999 in as many digits as it takes. */
const firstDigits = Int32Array.from({ length: 10_000 }, (_, number) => digitsOf(String(number)));

/** How many digits that is. */
const firstLengths = Uint8Array.from({ length: 10_000 }, (_, number) => String(number).length);

/** 0…9,999 in four digits. */
const nextDigits = Int32Array.from({ length: 10_000 }, (_, number) =>
  digitsOf(String(number).padStart(4, "0")),
);

function digitsOf(digits: string): number {
  let word = 0;
  for (let index = 0; index < digits.length; index++) word |= digits.charCodeAt(index) << (8 * index);
  return word;
}

/** Writes up to three bytes more than it returns the end of. */
function putInteger(view: DataView, at: number, integer: number): number {
  if (integer >= 10_000) return putLongInteger(view, at, integer);
  view.setInt32(at, firstDigits[integer] ?? 0, true);
  return at + (firstLengths[integer] ?? 0);
}

function putLongInteger(view: DataView, at: number, integer: number): number {
  const myriads = Math.floor(integer / 10_000);
  const next = putInteger(view, at, myriads);
  view.setInt32(next, nextDigits[integer - 10_000 * myriads] ?? 0, true);
  return next + 4;
}

/** Writes up to seven bytes more than it returns the end of. */
function putAscii(view: DataView, at: number, { words, length }: Ascii): number {
  for (let index = 0; index < words.length; index++) view.setFloat64(at + 8 * index, words[index] ?? 0, true);
  return at + length;
}

const hourWithoutData = new TileHour();

/**
 * Writes `cells` from index `from` to index `to`, each with a comma after it, and returns where they end. Not a
 * method: what is compiled for the instances of a class is dropped when the last of them is.
 */
function putCells(
  view: DataView,
  start: number,
  { words, length }: Ascii,
  lastCharacters: Uint16Array,
  lastLength: number,
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
    view.setUint16(at + length, lastCharacters[cell] ?? 0, true);
    at += length + lastLength;
    const code = codes[cell] ?? noDataCode;
    if (code === noDataCode) {
      at = putAscii(view, at, noData);
    } else if (code === suppressedCode) {
      at = putAscii(view, at, lowDensity);
    } else {
      view.setFloat64(at, density0, true);
      view.setFloat64(at + 8, density1, true);
      view.setFloat64(at + 16, density2, true);
      view.setFloat64(at + 24, density3, true);
      view.setFloat64(at + 32, density4, true);
      view.setFloat64(at + 40, density5, true);
      at = putInteger(view, at + density.length, densityOf(code));
      view.setFloat64(at, minimum0, true);
      view.setFloat64(at + 8, minimum1, true);
      view.setFloat64(at + 16, minimum2, true);
      at = putInteger(view, at + minimum.length, minimumOf(code, below[cell] ?? 0));
      view.setFloat64(at, maximum0, true);
      view.setFloat64(at + 8, maximum1, true);
      view.setFloat64(at + 16, maximum2, true);
      at = putInteger(view, at + maximum.length, maximumOf(code, above[cell] ?? 0));
      view.setUint16(at, cellEnd, true);
      at += 2;
    }
  }
  return at;
}

/** Bytes that become chunks of at most 64 KiB. A cell is never split. */
class Chunks {
  readonly #lastCharacters: Uint16Array;
  readonly #lastLength: number;
  readonly #bufferPool: Buffer[];
  #full: Buffer[] = [];
  #chunk = Buffer.allocUnsafeSlow(chunkBytes);
  #view = viewOf(this.#chunk);
  #at = 0;

  constructor(precision: number, bufferPool: Buffer[]) {
    this.#lastCharacters = precision === 1 ? letters : pairsOfLetters;
    this.#lastLength = Math.min(precision, 2);
    this.#bufferPool = bufferPool;
  }

  addText(text: string): void {
    const bytes = Buffer.from(text);
    for (let from = 0; from < bytes.length; ) {
      const copied = bytes.copy(this.#chunk, this.#at, from);
      this.#at += copied;
      from += copied;
      if (from < bytes.length) this.#next();
    }
  }

  /** Without an hour the cells have no data. */
  addCells({ geohash, cells }: CellsOfTile, hour: TileHour = hourWithoutData): void {
    const start = asciiOf(`{"geohash":"${geohash}`, 3);
    for (let from = 0; from < cells.length; ) {
      const fitting = Math.floor((chunkBytes - cellOverrun - this.#at) / maxCellBytes);
      if (fitting <= 0) {
        this.#next();
        continue;
      }
      const to = Math.min(from + fitting, cells.length);
      this.#at = putCells(
        this.#view,
        this.#at,
        start,
        this.#lastCharacters,
        this.#lastLength,
        hour,
        cells,
        from,
        to,
      );
      from = to;
    }
  }

  /** Takes the comma after the cell added last away. */
  dropComma(): void {
    this.#at--;
  }

  /** The chunks to which nothing will be added any more. */
  takeFull(): readonly Buffer[] {
    const full = this.#full;
    this.#full = [];
    return full;
  }

  /** What is left, once nothing will be added any more. */
  takeAll(): readonly Buffer[] {
    return [...this.takeFull(), this.#chunk.subarray(0, this.#at)];
  }

  #next(): void {
    this.#full.push(this.#chunk.subarray(0, this.#at));
    // A chunk is cut off where its text ends; its memory is as long as it was.
    const memory = this.#bufferPool.pop()?.buffer;
    const fits = memory instanceof ArrayBuffer && memory.byteLength === chunkBytes;
    this.#chunk = fits ? Buffer.from(memory) : Buffer.allocUnsafeSlow(chunkBytes);
    this.#view = viewOf(this.#chunk);
    this.#at = 0;
  }
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
