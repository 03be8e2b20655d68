/** Cells that share all but the last two characters of their geohash; a cell's index is these two as a number. */
export const cellsPerTile = 1_024;

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
 * The code where no share is stored: of a cell without data, and in a tile of the finest precision, whose cells are
 * covered as a whole.
 */
export const noShare = 0;

/** Shares are stored as codes of whole numbers, like densities: as multiples of this. */
const shareUnit = 2 ** -41;

/**
 * One tile in one hour: a slot of 4 bytes per cell, all in one buffer of 4,096 bytes. A slot of a new hour has no
 * data. Cells are indexes 0…1023; any other index reads as no data. Numbers are integers in people per km² of the
 * covered part of a cell; they are undefined for a cell without an estimate.
 */
export class TileHour {
  /** 0 for no data, 1 for suppressed, otherwise a value: a greater code is a greater value. */
  readonly codes: Uint16Array;
  /** How many codes the minimum lies below the value, shortened: `minimumOf` reads it. */
  readonly below: Uint8Array;
  /** How many codes the maximum lies above the value, shortened: `maximumOf` reads it. */
  readonly above: Uint8Array;
  /**
   * Codes of the shares of the cells that are covered, `noShare` for the others. Undefined for a tile of
   * the finest precision, whose cells are covered as a whole or not at all: those of most answers take no memory for it.
   */
  shares: Uint16Array | undefined;

  constructor() {
    const buffer = new ArrayBuffer(4 * cellsPerTile);
    this.codes = new Uint16Array(buffer, 0, cellsPerTile);
    this.below = new Uint8Array(buffer, 2 * cellsPerTile, cellsPerTile);
    this.above = new Uint8Array(buffer, 3 * cellsPerTile, cellsPerTile);
    this.shares = undefined;
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

  /** The share of the cell's area that is covered, at most 1; 0 without data. */
  share(cell: number): number {
    if (this.#codeOf(cell) === noDataCode) return 0;
    return shareOf(this.shares?.[cell] ?? noShare);
  }

  /** Stores which share of the cell's area is covered, above 0 and at most 1; its error is at most 1/4,096 from 2⁻²⁹ on. */
  setShare(cell: number, share: number): void {
    this.shares ??= new Uint16Array(cellsPerTile);
    this.shares[cell] = shareCodeOf(share);
  }

  /** Forgets what is known of the cell. */
  setNoData(cell: number): void {
    this.#set(cell, noDataCode, 0, 0);
    if (this.shares !== undefined) this.shares[cell] = noShare;
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
  return densityOf(minimumCodeOf(code, below));
}

/** The code of `minimumOf`. */
export function minimumCodeOf(code: number, below: number): number {
  return Math.max(code - (distances[below] ?? 0), firstValue);
}

/** The upper end of a range, from a value's code and what is stored of the distance above it. */
export function maximumOf(code: number, above: number): number {
  return densityOf(maximumCodeOf(code, above));
}

/** The code of `maximumOf`. */
export function maximumCodeOf(code: number, above: number): number {
  return Math.min(code + (distances[above] ?? 0), maxCode);
}

/** The share of a code; 1 for `noShare`, of a cell with data. */
export function shareOf(code: number): number {
  return code === noShare ? 1 : densityOf(code) * shareUnit;
}

function shareCodeOf(share: number): number {
  return codeOf(Math.min(Math.max(share / shareUnit, 1), 1 / shareUnit), Math.round);
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
