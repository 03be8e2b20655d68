/** Geohashes as people list them, joined into polygons. */
import { countCells, coverOf, geohashesOf } from "../../functions/population-density/cover/cover.ts";
import { maxCells, outlineAround } from "../../functions/population-density/cover/outline.ts";
import { polygonOf } from "../../functions/population-density/cover/polygon.ts";
import { counted, whole } from "../base/numbers.ts";
import type { Area } from "../data/area.ts";
import { listed } from "./listed.ts";

/** Cells that were given as geohashes. */
export interface GeohashList {
  /** The cells as geohashes of one length. */
  readonly cells: ReadonlySet<string>;
  /** Around them: polygons of GeoJSON. */
  readonly polygons: readonly (readonly (readonly (readonly number[])[])[])[];
  /** How many different geohashes there are. */
  readonly count: number;
  /** Sentences about what is not used. */
  readonly remarks: readonly string[];
}

/** Longer geohashes are cut: a cell of this length is 5 m wide. */
const maxLength = 9;

/** A longer word is no geohash, such as a geometry in hexadecimal digits: a cell of this length is 4 cm wide. */
const longestWord = 12;

/**
 * So much are polygons smaller than their cells at each edge, in degrees: an area is rounded to 6 decimals, and must
 * not touch the neighbours by that.
 */
const inset = 1e-6;

const geohash = /^[0-9b-hjkmnp-z]+$/i;

/**
 * Reads a list of geohashes, in any case, separated by spaces, commas, semicolons, lines or quotes.
 * @param isNamed whether the text calls them geohashes; otherwise they must differ from numbers and words
 * @returns undefined for a text that is none: less than half of its words have a letter and are geohashes of at most 12
 * characters, or would be but for an a, i, l or o next to a digit.
 * @throws {Error} where they are too many, or may be words of a language.
 */
export function parseGeohashes(text: string, isNamed = false): GeohashList | undefined {
  const words = [...new Set(text.split(/[\s,;|"'[\]]+/).filter((word) => word !== ""))];
  const isGood = (word: string) => word.length <= longestWord && geohash.test(word);
  const good = words.filter(isGood);
  if (!isNamed && !isList(words, good)) return undefined;
  const bad = words.filter((word) => !isGood(word));
  const long = good.filter((word) => word.length > maxLength);
  const cells = ofOneLength(new Set(good.map((word) => word.toLowerCase().slice(0, maxLength))));
  return {
    cells,
    polygons: (cells.size === 0 ? [] : outlineAround(cells).coordinates).map((rings) => rings.map(insetRing)),
    count: good.length,
    remarks: [
      ...(bad.length > 0
        ? [`Left out: ${listed(bad)}. A geohash has digits and letters, but no a, i, l, o.`]
        : []),
      ...(bad.some(({ length }) => length > longestWord)
        ? [`It has at most ${longestWord} characters.`]
        : []),
      ...(long.length > 0 ? [`Cut to ${maxLength} characters: ${listed(long)}.`] : []),
    ],
  };
}

/** @throws {Error} for words that nothing tells from those of a language. */
function isList(words: readonly string[], good: readonly string[]): boolean {
  const mixed = words.filter((word) => /^(?=\d*[a-z])(?=[a-z]*\d)[0-9a-z]{1,12}$/i.test(word));
  const meant = new Set([...mixed, ...good.filter((word) => /[a-z]/i.test(word))]);
  if (meant.size === 0 || meant.size < words.length / 2) return false;
  const isOneLength = new Set(words.map(({ length }) => length)).size === 1;
  const isOneCase = words.every((word) => /^(?:[b-hjkmnp-z]{5,}|[B-HJKMNP-Z]{5,})$/.test(word));
  if (mixed.length > 0 || (isOneLength && isOneCase)) return true;
  throw new Error(
    "This is not a list of geohashes: without a digit, they must be in one case and of one length, 5 or more, without a, " +
      `i, l, o: ${listed(words)}.`,
  );
}

/** The same cells as geohashes of one length: that of the longest that is in none of the others. */
function ofOneLength(given: ReadonlySet<string>): ReadonlySet<string> {
  const geohashes = [...given].filter(
    (one) => !Array.from(one, (_, length) => one.slice(0, length)).some((start) => given.has(start)),
  );
  const longest = geohashes.reduce((most, { length }) => Math.max(most, length), 0);
  const size = geohashes.reduce((sum, { length }) => sum + 32 ** (longest - length), 0);
  if (size > maxCells)
    throw new Error(
      `These geohashes stand for more than ${whole(maxCells)} cells of length ${longest}: take fewer or shorter ones.`,
    );
  let cells = new Set<string>();
  for (let length = 1; length <= longest; length++) {
    const finer = Array.from(cells, (cell) => Array.from(alphabet, (character) => cell + character)).flat();
    cells = new Set([...finer, ...geohashes.filter((one) => one.length === length)]);
  }
  return cells;
}

const alphabet = "0123456789bcdefghjkmnpqrstuvwxyz";

/** A closed ring of corners, each moved to the left of both of its edges: into the polygon. */
function insetRing(ring: readonly (readonly number[])[]): number[][] {
  const corners = ring.slice(0, -1);
  const at = (index: number) => corners[(index + corners.length) % corners.length] ?? [];
  const leftOf = ([x1 = 0, y1 = 0]: readonly number[], [x2 = 0, y2 = 0]: readonly number[]) => [
    -Math.sign(y2 - y1) * inset,
    Math.sign(x2 - x1) * inset,
  ];
  const moved = corners.map((corner, index) => {
    const [before, after] = [leftOf(at(index - 1), corner), leftOf(corner, at(index + 1))];
    return [0, 1].map((axis) => (corner[axis] ?? 0) + (before[axis] ?? 0) + (after[axis] ?? 0));
  });
  return [...moved, ...moved.slice(0, 1)];
}

/** Sentences about how the cells of areas differ from those that were given. */
export function differenceRemarks(areas: readonly Area[], cells: ReadonlySet<string>): string[] {
  const [first = ""] = cells;
  const precision = first.length;
  const polygons = areas.flatMap(({ boundary }) => polygonOf(boundary) ?? []);
  const count = polygons.reduce((sum, polygon) => sum + countCells(polygon, precision, 4 * maxCells), 0);
  if (count > 4 * maxCells) return [`The areas have more than ${whole(4 * maxCells)} cells of this length.`];
  const covered = new Set(polygons.flatMap((polygon) => geohashesOf(coverOf(polygon, precision), precision)));
  const missing = [...cells].filter((cell) => !covered.has(cell));
  const further = covered.size - (cells.size - missing.length);
  return [
    ...(missing.length > 0 ? [`Not in it: ${counted(missing.length, "cell")} (${listed(missing)}).`] : []),
    ...(further > 0 ? [`In it are ${counted(further, "further cell")}.`] : []),
  ];
}
