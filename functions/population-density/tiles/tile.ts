/**
 * A tile is the 1,024 cells whose geohashes differ in their last two characters only; this is how its days are stored.
 */
import { crc32 } from "node:zlib";
import { cellsPerTile, noDataCode, noShare, TileHour } from "./tile-hour.ts";

/** In UTC. */
export const hoursPerDay = 24;

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
/** Version of an item whose hours have shares. */
const versionWithShares = 2;
const coverageAt = 1;
const lengthsAt = coverageAt + coverageBytes;
const hoursAt = lengthsAt + 2 * hoursPerDay;
const checksumBytes = 4;

// An hour: for each run of 64 cells its codes, its distances below and its distances above; behind all of them, in an
// item with shares, the shares of each run. Each of these is the width in bits, the minimum, and 64 × width bits: how
// much each number exceeds the minimum.
const runLength = 64;
const bytesPerBit = runLength / 8;
const maxHourBytes = (cellsPerTile / runLength) * (3 + 2 + 2 + 3) + 6 * cellsPerTile;

/** The longest day: each of 24 hours of 16 runs has at most 10 bytes in addition to its slots. */
export const maxItemBytes = hoursAt + hoursPerDay * maxHourBytes + checksumBytes;

/**
 * The stored form of a tile's day. Takes 24 hours in order; an hour that is undefined is not in it or not known, which
 * is not the same as known to have no data.
 *
 * @param coverage the covered cells, with or without data in an hour; no other may have data. Without it a cell is
 *   covered if any hour has data of it.
 */
export function encodeTileDay(
  hours: readonly (TileHour | undefined)[],
  coverage: Uint8Array = coverageOf(hours),
): Uint8Array<ArrayBuffer> {
  if (hours.length !== hoursPerDay) throw new RangeError(`${hours.length} hours are not a day`);
  if (coverage.length !== coverageBytes) throw new RangeError(`${coverage.length} bytes are not a coverage`);
  scratch.fill(0, 0, hoursAt);
  const hasShares = hours.some((hour) => hour?.shares !== undefined);
  scratch[0] = hasShares ? versionWithShares : version;
  scratch.set(coverage, coverageAt);
  let at = hoursAt;
  for (const [index, hour] of hours.entries()) {
    if (hour === undefined) continue;
    if (hasOther(hour, coverage)) {
      throw new RangeError(`hour ${index} has data of a cell that is not covered`);
    }
    const start = at;
    at = pack(scratchView, at, hour);
    if (hasShares) at = packShares(scratchView, at, hour.shares ?? noShares);
    scratchView.setUint16(lengthsAt + 2 * index, at - start, true);
  }
  scratchView.setUint32(at, crc32(scratch.subarray(0, at)), true);
  return scratch.slice(0, at + checksumBytes);
}

/** Where an item is put together. */
const scratch = new Uint8Array(maxItemBytes);
const scratchView = new DataView(scratch.buffer);

/** Whether an hour has data of a cell that is not covered. */
function hasOther({ codes }: TileHour, coverage: Uint8Array): boolean {
  for (let cell = 0; cell < cellsPerTile; cell++) {
    if (codes[cell] !== noDataCode && !isCovered(coverage, cell)) return true;
  }
  return false;
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

const noShares = new Uint16Array(cellsPerTile).fill(noShare);

function packShares(view: DataView, start: number, shares: Uint16Array): number {
  let at = start;
  for (let run = 0; run < cellsPerTile; run += runLength) at = packRun(view, at, shares, run);
  return at;
}

/** Returns where the run ends. */
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
  let at = start + 1 + numbers.BYTES_PER_ELEMENT;
  if (width === 0) return at;
  let bits = 0;
  let count = 0;
  for (let index = run; index < run + runLength; index++) {
    bits |= ((numbers[index] as number) - min) << count;
    count += width;
    if (count < 16) continue;
    view.setUint16(at, bits, true);
    at += 2;
    bits >>>= 16;
    count -= 16;
  }
  return at;
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

  /** Whether an hour, 0…23 UTC, is stored. */
  hasHour(hour: number): boolean {
    return hourLength(this.#view, hour) > 0;
  }

  /** Unpacks one hour, 0…23 UTC, into a buffer of its own. Undefined for an hour that was not stored. */
  openHour(hour: number): TileHour | undefined {
    const length = hourLength(this.#view, hour);
    if (length === 0) return undefined;
    let start = hoursAt;
    for (let earlier = 0; earlier < hour; earlier++) start += hourLength(this.#view, earlier);
    const opened = new TileHour();
    let end = unpack(this.#view, start, opened);
    if (this.#view.getUint8(0) === versionWithShares) end = unpackShares(this.#view, end, opened);
    if (end !== start + length) throw new Error(`hour ${hour} is not a tile's`);
    return opened;
  }
}

/**
 * A stored day, ready to be read in place. Throws for an unknown version and for bytes that are not exactly what
 * was written: cut off, extended or changed.
 */
export function readTileDay(bytes: Uint8Array): TileDay {
  if (bytes.length === 0) throw new Error("a tile's day is empty");
  if (bytes[0] !== version && bytes[0] !== versionWithShares) {
    throw new Error(`a tile's day has version ${bytes[0]}, not ${version} or ${versionWithShares}`);
  }
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

/** All hours of a stored day, unpacked; undefined for those that are not stored. */
export function hoursOf(day: TileDay): (TileHour | undefined)[] {
  return Array.from({ length: hoursPerDay }, (_, hour) => day.openHour(hour));
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

/** Returns where the shares end. */
function unpackShares(view: DataView, start: number, hour: TileHour): number {
  const shares = new Uint16Array(cellsPerTile);
  let at = start;
  for (let run = 0; run < cellsPerTile; run += runLength) {
    const width = view.getUint8(at);
    unpackCodes(view, at + 3, width, view.getUint16(at + 1, true), shares, run);
    at += 3 + width * bytesPerBit;
  }
  hour.shares = shares;
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
    // Reads up to three bytes behind the run, where there is at least the checksum.
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
