import { hourMilliseconds } from "../../../shared/calendar.ts";
import { densityOf, noShare, shareOf, suppressedCode } from "../tiles/tile-hour.ts";

/** ASCII text as 64-bit words, the last one padded with zeros. */
export interface Ascii {
  /** No word is NaN, which might be written as another NaN: that takes bytes which are not ASCII. */
  readonly words: Float64Array;
  readonly length: number;
}

/** @param wordCount of the result; as many as the text takes if absent. */
export function asciiOf(text: string, wordCount = Math.ceil(text.length / 8)): Ascii {
  const words = new Float64Array(wordCount);
  const bytes = Buffer.alloc(8 * words.length);
  bytes.write(text, "latin1");
  for (const index of words.keys()) words[index] = bytes.readDoubleLE(8 * index);
  return { words, length: text.length };
}

export const commaByte = 0x2c;

/** Returns the offset after the text; may write 7 bytes past it. */
export function putAscii(view: DataView, at: number, { words, length }: Ascii): number {
  for (let index = 0; index < words.length; index++) view.setFloat64(at + 8 * index, words[index] ?? 0, true);
  return at + length;
}

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

/** The ends of the geohashes of a tile's cells, for `setUint16`: the first character in the lower byte. */
export interface LastCharacters {
  readonly characters: Uint16Array;
  /** 1 at precision 1, otherwise 2. */
  readonly length: number;
}

/** The last characters of the cells of a precision. */
export function lastCharactersOf(precision: number): LastCharacters {
  return precision === 1 ? { characters: letters, length: 1 } : { characters: pairsOfLetters, length: 2 };
}

/** Texts of smaller codes, up to 16,372 people per km², are precomputed. */
const shortCodes = 8_192;

/** What each of these codes stands for, with a comma: the eight bytes from its beginning on, as a word of `Ascii`. */
const densityWords = new Float64Array(shortCodes);

/** How long each of these texts is, with its comma. */
const densityLengths = new Uint8Array(shortCodes);

fillDensities();

/** One JSON text, then split: formatting each number costs milliseconds at the start. */
function fillDensities(): void {
  const densities = JSON.stringify(Array.from({ length: shortCodes }, (_, code) => densityAt(code)));
  const bytes = new TextEncoder().encode(densities.replace("]", `,${" ".repeat(8)}`));
  const view = new DataView(bytes.buffer);
  let code = 0;
  let begin = 1;
  for (let at = begin; code < shortCodes; at++) {
    if (bytes[at] !== commaByte) continue;
    densityWords[code] = view.getFloat64(begin, true);
    densityLengths[code] = at + 1 - begin;
    begin = at + 1;
    code++;
  }
}

function densityAt(code: number): number | null {
  return code > suppressedCode ? densityOf(code) : null;
}

/**
 * Writes the density of a code, or null if it stands for none, with a comma after it. Returns the offset after the comma;
 * may write 7 bytes past it.
 * @param code as of `TileHour.codes`.
 */
export function putDensity(view: DataView, at: number, code: number): number {
  if (code >= shortCodes) return putKept(view, at, code, longDensities, (long) => `${densityAt(long)},`);
  view.setFloat64(at, densityWords[code] ?? 0, true);
  return at + (densityLengths[code] ?? 0);
}

/** Texts that were written, by codes: a body has few different ones. */
type KeptTexts = Map<number, Ascii>;

const maxKeptTexts = 4_096;
const longDensities: KeptTexts = new Map();
const shares: KeptTexts = new Map();

/** No share is longer: `9.313e-10`. */
export const maxShareBytes = 12;

/**
 * Writes with four digits which share of a cell is covered, and returns the offset after it; may write 7 bytes past it.
 * @param code as of `TileHour.shares`.
 */
export function putShare(view: DataView, at: number, code = noShare): number {
  return putKept(view, at, code, shares, (share) => String(Number(shareOf(share).toPrecision(4))));
}

/** Writes the text of a code, which is made if it is not kept. */
function putKept(
  view: DataView,
  at: number,
  code: number,
  kept: KeptTexts,
  textOf: (code: number) => string,
): number {
  let text = kept.get(code);
  if (text === undefined) {
    text = asciiOf(textOf(code));
    if (kept.size < maxKeptTexts) kept.set(code, text);
  }
  return putAscii(view, at, text);
}

/** The start of an hour, counted from 1970-01-01T00:00Z: RFC 3339 in UTC, without fractions. */
export function timeOf(hour: number): string {
  return `${new Date(hour * hourMilliseconds).toISOString().slice(0, 19)}Z`;
}
