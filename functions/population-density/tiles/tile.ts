import { crc32 } from "node:zlib";

/** Cells that share all but the last two characters of their geohash; a cell's index is these two as a number. */
export const cellsPerTile = 1_024;

/** Hours in one stored item, in UTC. */
export const hoursPerDay = 24;

/** The `dataType` of a cell in an hour (specification 2.11). */
type CellKind = "NO_DATA" | "LOW_DENSITY" | "DENSITY_ESTIMATION";

/** The code of a cell that is not covered in an hour. */
export const noDataCode = 0;

/** The code of a suppressed cell. */
export const suppressedCode = 1;

const firstValue = 2;
const maxCode = 0xffff;

/**
 * The maximum density of a slot, in people per km². Values up to 4,096 are stored exactly, larger ones with 12
 * significant bits: their error is at most 1/4,096.
 */
export const maxDensity = 4_093 * 2 ** 30;

/**
 * One tile in one hour: a slot of 4 bytes per cell, all in one buffer of 4,096 bytes. A slot of a new hour has no
 * data. Cells are indexes 0…1023; any other index reads as no data. Numbers are integers in people per km²; they are
 * undefined for a cell without an estimate.
 */
export class TileHour {
  /** 0 for no data, 1 for suppressed, otherwise a value: a greater code is a greater value. */
  readonly codes: Uint16Array;
  /** How many codes the minimum lies below the value, shortened: `minimumOf` reads it. */
  readonly below: Uint8Array;
  /** How many codes the maximum lies above the value, shortened: `maximumOf` reads it. */
  readonly above: Uint8Array;

  constructor() {
    const buffer = new ArrayBuffer(4 * cellsPerTile);
    this.codes = new Uint16Array(buffer, 0, cellsPerTile);
    this.below = new Uint8Array(buffer, 2 * cellsPerTile, cellsPerTile);
    this.above = new Uint8Array(buffer, 3 * cellsPerTile, cellsPerTile);
  }

  kind(cell: number): CellKind {
    const code = this.#codeOf(cell);
    if (code === noDataCode) return "NO_DATA";
    return code === suppressedCode ? "LOW_DENSITY" : "DENSITY_ESTIMATION";
  }

  value(cell: number): number {
    return densityOf(this.#codeOf(cell));
  }

  /** Never above the value, nor above the minimum that was stored. */
  minimum(cell: number): number {
    return minimumOf(this.#codeOf(cell), this.below[cell] ?? 0);
  }

  /** Never below the value, nor below the maximum that was stored. */
  maximum(cell: number): number {
    return maximumOf(this.#codeOf(cell), this.above[cell] ?? 0);
  }

  /** Stores that the cell is covered and suppressed. */
  setSuppressed(cell: number): void {
    this.#set(cell, suppressedCode, 0, 0);
  }

  /**
   * Stores people per km², whole or not: the value is rounded to the nearest, the range outwards. Fails unless
   * 0 ≤ minimum ≤ value ≤ maximum ≤ `maxDensity`.
   */
  setEstimate(cell: number, value: number, minimum: number, maximum: number): void {
    if (!(minimum >= 0 && minimum <= value && value <= maximum && maximum <= maxDensity)) {
      throw new RangeError(`${minimum} ≤ ${value} ≤ ${maximum} is not a range of densities`);
    }
    const code = codeOf(value, Math.round);
    const below = shortDistance(code - codeOf(minimum, Math.floor));
    this.#set(cell, code, below, shortDistance(codeOf(maximum, Math.ceil) - code));
  }

  #codeOf(cell: number): number {
    return this.codes[cell] ?? noDataCode;
  }

  #set(cell: number, code: number, below: number, above: number): void {
    if (!(Number.isInteger(cell) && cell >= 0 && cell < cellsPerTile)) {
      throw new RangeError(`${cell} is not a cell of a tile`);
    }
    this.codes[cell] = code;
    this.below[cell] = below;
    this.above[cell] = above;
  }
}

/** The 11 bits below the leading one of a value; the bits above them count how often it was halved. */
const valueBits = 11;

/** The same for distances, which have a byte. */
const distanceBits = 4;

/**
 * The value of a code from 2 on, an integer in people per km². Shifts, for small values: a product would be taken for
 * a floating-point number by the compiler.
 */
export function densityOf(code: number): number {
  const short = code - firstValue;
  if (short < 2 << valueBits) return short;
  const halvings = (short >> valueBits) - 1;
  const mantissa = short - (halvings << valueBits);
  return halvings < 31 - valueBits - 1 ? mantissa << halvings : mantissa * 2 ** halvings;
}

function codeOf(density: number, round: (value: number) => number): number {
  return firstValue + shorten(density, valueBits, round);
}

const distances = Int32Array.from({ length: 256 }, (_, short) => {
  const halvings = Math.max((short >> distanceBits) - 1, 0);
  return (short - (halvings << distanceBits)) << halvings;
});

/** The lower end of a range, from a value's code and what is stored of the distance below it. */
export function minimumOf(code: number, below: number): number {
  return densityOf(Math.max(code - (distances[below] ?? 0), firstValue));
}

/** The upper end of a range, from a value's code and what is stored of the distance above it. */
export function maximumOf(code: number, above: number): number {
  return densityOf(Math.min(code + (distances[above] ?? 0), maxCode));
}

function shortDistance(distance: number): number {
  return shorten(distance, distanceBits, Math.ceil);
}

/** Rounding up to a power of two carries into the count of halvings, so the order of numbers is kept. */
function shorten(value: number, bits: number, round: (value: number) => number): number {
  let halvings = 0;
  let mantissa = value;
  while (mantissa >= 2 << bits) {
    mantissa /= 2;
    halvings++;
  }
  return (halvings << bits) + round(mantissa);
}

/** Bytes of a coverage: a bit per cell of a tile, the lowest bit first. */
export const coverageBytes = cellsPerTile / 8;

/** Whether a coverage has a cell. */
export function isCovered(coverage: Uint8Array, cell: number): boolean {
  return (((coverage[cell >> 3] ?? 0) >> (cell & 7)) & 1) === 1;
}

/** Adds a cell to a coverage of `coverageBytes` bytes. */
export function addToCoverage(coverage: Uint8Array, cell: number): void {
  coverage[cell >> 3] = (coverage[cell >> 3] ?? 0) | (1 << (cell & 7));
}

// An item: version, coverage (a bit per cell, the lowest bit first), the length of each hour, the hours one after
// the other, CRC-32 of all before it. Numbers are little-endian. An hour of length 0 is absent.
const version = 1;
const coverageAt = 1;
const lengthsAt = coverageAt + coverageBytes;
const hoursAt = lengthsAt + 2 * hoursPerDay;
const checksumBytes = 4;

// An hour: for each run of 64 cells its codes, its distances below and its distances above. Each of these three is
// the width in bits, the minimum, and 64 × width bits: how much each number exceeds the minimum.
const runLength = 64;
const bytesPerBit = runLength / 8;
const maxHourBytes = (cellsPerTile / runLength) * (3 + 2 + 2) + 4 * cellsPerTile;

/** No item is longer, whatever it holds: each of 24 hours of 16 runs has at most 7 bytes beside its slots. */
export const maxItemBytes = hoursAt + hoursPerDay * maxHourBytes + checksumBytes;

/**
 * The stored form of a tile's day. Takes 24 hours in order; an hour that is undefined is not known, which is not
 * the same as known to have no data.
 *
 * @param coverage the cells that are covered whatever the hours know of them; no other may have data. Without it a
 *   cell is covered if any hour knows of it.
 */
export function encodeTileDay(
  hours: readonly (TileHour | undefined)[],
  coverage: Uint8Array = coverageOf(hours),
): Uint8Array<ArrayBuffer> {
  if (hours.length !== hoursPerDay) throw new RangeError(`${hours.length} hours are not a day`);
  if (coverage.length !== coverageBytes) throw new RangeError(`${coverage.length} bytes are not a coverage`);
  const bytes = new Uint8Array(maxItemBytes);
  const view = new DataView(bytes.buffer);
  bytes[0] = version;
  bytes.set(coverage, coverageAt);
  let at = hoursAt;
  for (const [index, hour] of hours.entries()) {
    if (hour === undefined) continue;
    if (hour.codes.some((code, cell) => code !== noDataCode && !isCovered(coverage, cell))) {
      throw new RangeError(`hour ${index} has data of a cell that is not covered`);
    }
    const start = at;
    at = pack(view, at, hour);
    view.setUint16(lengthsAt + 2 * index, at - start, true);
  }
  view.setUint32(at, crc32(bytes.subarray(0, at)), true);
  return bytes.slice(0, at + checksumBytes);
}

/** The cells of which any of some hours knows. */
function coverageOf(hours: readonly (TileHour | undefined)[]): Uint8Array {
  const coverage = new Uint8Array(coverageBytes);
  for (const hour of hours) {
    for (const [cell, code] of hour?.codes.entries() ?? [])
      if (code !== noDataCode) addToCoverage(coverage, cell);
  }
  return coverage;
}

function pack(view: DataView, start: number, hour: TileHour): number {
  let at = start;
  for (let run = 0; run < cellsPerTile; run += runLength) {
    for (const numbers of [hour.codes, hour.below, hour.above]) {
      at = packRun(view, at, numbers, run);
    }
  }
  return at;
}

/** Numbers of bits that are not yet written are zero in `view`. Returns where the run ends. */
function packRun(view: DataView, start: number, numbers: Uint16Array | Uint8Array, run: number): number {
  let min = 0xffff;
  let max = 0;
  for (let index = run; index < run + runLength; index++) {
    const value = numbers[index] as number;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  const width = 32 - Math.clz32(max - min);
  view.setUint8(start, width);
  if (numbers instanceof Uint16Array) view.setUint16(start + 1, min, true);
  else view.setUint8(start + 1, min);
  const at = start + 1 + numbers.BYTES_PER_ELEMENT;
  if (width === 0) return at;
  for (let index = 0, bit = 0; index < runLength; index++, bit += width) {
    const byte = at + (bit >> 3);
    const value = (numbers[run + index] as number) - min;
    view.setUint32(byte, view.getUint32(byte, true) | (value << (bit & 7)), true);
  }
  return at + width * bytesPerBit;
}

/**
 * A stored day that has been checked but not unpacked: it reads from the item's own bytes, which must not change
 * meanwhile.
 */
export class TileDay {
  readonly #view: DataView;

  /** Only of bytes that `readTileDay` has checked. */
  constructor(view: DataView) {
    this.#view = view;
  }

  /** The cells that are covered, in the item's own bytes; `isCovered` reads it. No hour is unpacked for it. */
  get coverage(): Uint8Array {
    return new Uint8Array(this.#view.buffer, this.#view.byteOffset + coverageAt, coverageBytes);
  }

  /** Bytes of memory that it keeps. */
  get byteLength(): number {
    return this.#view.buffer.byteLength;
  }

  /** Unpacks one hour, 0…23 UTC, into a buffer of its own. Undefined for an hour that was not stored. */
  openHour(hour: number): TileHour | undefined {
    const length = hourLength(this.#view, hour);
    if (length === 0) return undefined;
    let start = hoursAt;
    for (let earlier = 0; earlier < hour; earlier++) start += hourLength(this.#view, earlier);
    const opened = new TileHour();
    if (unpack(this.#view, start, opened) !== start + length) throw new Error(`hour ${hour} is not a tile's`);
    return opened;
  }
}

/**
 * A stored day, ready to be read in place. Throws for an unknown version and for bytes that are not exactly what
 * was written: cut off, extended or changed.
 */
export function readTileDay(bytes: Uint8Array): TileDay {
  if (bytes.length === 0) throw new Error("a tile's day is empty");
  if (bytes[0] !== version) throw new Error(`a tile's day has version ${bytes[0]}, not ${version}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const checksumAt = bytes.length - checksumBytes;
  if (checksumAt < hoursAt || checksumAt !== endOfHours(view)) {
    throw new Error(`a tile's day has a wrong length of ${bytes.length} bytes`);
  }
  if (view.getUint32(checksumAt, true) !== crc32(bytes.subarray(0, checksumAt))) {
    throw new Error("a tile's day does not match its checksum");
  }
  return new TileDay(view);
}

function endOfHours(view: DataView): number {
  let at = hoursAt;
  for (let hour = 0; hour < hoursPerDay; hour++) at += hourLength(view, hour);
  return at;
}

function hourLength(view: DataView, hour: number): number {
  if (!(Number.isInteger(hour) && hour >= 0 && hour < hoursPerDay)) {
    throw new RangeError(`${hour} is not an hour of a day`);
  }
  return view.getUint16(lengthsAt + 2 * hour, true);
}

/** Returns where the hour ends. */
function unpack(view: DataView, start: number, hour: TileHour): number {
  let at = start;
  for (let run = 0; run < cellsPerTile; run += runLength) {
    const width = view.getUint8(at);
    unpackCodes(view, at + 3, width, view.getUint16(at + 1, true), hour.codes, run);
    at += 3 + width * bytesPerBit;
    at = unpackDistances(view, at, hour.below, run);
    at = unpackDistances(view, at, hour.above, run);
  }
  return at;
}

function unpackDistances(view: DataView, start: number, distances: Uint8Array, run: number): number {
  const width = view.getUint8(start);
  const at = start + 2;
  const min = view.getUint8(start + 1);
  if (width === 0) {
    distances.fill(min, run, run + runLength);
    return at;
  }
  const mask = (1 << width) - 1;
  for (let index = 0, bit = 0; index < runLength; index++, bit += width) {
    // Reads up to three bytes behind the run, where there is at min the checksum.
    distances[run + index] = min + ((view.getInt32(at + (bit >>> 3), true) >>> (bit & 7)) & mask);
  }
  return at + width * bytesPerBit;
}

/** The loop of `unpackDistances` once more: one loop for both types of array takes half as long again. */
function unpackCodes(
  view: DataView,
  at: number,
  width: number,
  min: number,
  codes: Uint16Array,
  run: number,
): void {
  if (width === 0) {
    codes.fill(min, run, run + runLength);
    return;
  }
  const mask = (1 << width) - 1;
  for (let index = 0, bit = 0; index < runLength; index++, bit += width) {
    codes[run + index] = min + ((view.getInt32(at + (bit >>> 3), true) >>> (bit & 7)) & mask);
  }
}
