import { hourMilliseconds } from "../../../shared/calendar.ts";
import { noShare, shareOf } from "../tiles/tile-hour.ts";

/** ASCII text to be written eight bytes at once, as far as 64-bit words go: the last one is filled up with zeros. */
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

/** 0…9,999 without leading zeros. */
const firstDigits = Int32Array.from({ length: 10_000 }, (_, number) => digitsOf(String(number)));

/** 0…9,999 with leading zeros: four digits. */
const nextDigits = Int32Array.from({ length: 10_000 }, (_, number) =>
  digitsOf(String(number).padStart(4, "0")),
);

function digitsOf(digits: string): number {
  let word = 0;
  for (let index = 0; index < digits.length; index++) word |= digits.charCodeAt(index) << (8 * index);
  return word;
}

/** Writes the digits and returns the offset after them; may write 3 bytes past it. */
export function putInteger(view: DataView, at: number, integer: number): number {
  if (integer >= 10_000) return putLongInteger(view, at, integer);
  const digits = firstDigits[integer] ?? 0;
  view.setInt32(at, digits, true);
  // Without a second table for the lengths, which would compete with the first one for the processor's nearest cache.
  return at + 4 - (Math.clz32(digits) >> 3);
}

function putLongInteger(view: DataView, at: number, integer: number): number {
  const myriads = Math.floor(integer / 10_000);
  const next = putInteger(view, at, myriads);
  view.setInt32(next, nextDigits[integer - 10_000 * myriads] ?? 0, true);
  return next + 4;
}

/** Text of the shares that were written, by their codes: a body has few different ones. */
const shareTexts = new Map<number, Ascii>();
const maxShareTexts = 4_096;

/** No share is longer: `9.313e-10`. */
export const maxShareBytes = 12;

/**
 * Writes with four digits which share of a cell is covered, and returns the offset after it; may write 7 bytes past it.
 * @param code as of `TileHour.shares`.
 */
export function putShare(view: DataView, at: number, code = noShare): number {
  let text = shareTexts.get(code);
  if (text === undefined) {
    text = asciiOf(String(Number(shareOf(code).toPrecision(4))));
    if (shareTexts.size < maxShareTexts) shareTexts.set(code, text);
  }
  return putAscii(view, at, text);
}

/** The start of an hour, counted from 1970-01-01T00:00Z: RFC 3339 in UTC, without fractions. */
export function timeOf(hour: number): string {
  return `${new Date(hour * hourMilliseconds).toISOString().slice(0, 19)}Z`;
}
