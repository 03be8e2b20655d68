/** One place as people write it: `45.76, 4.83`, `45,76; 4,83`, `4.83° E, 45.76° N`, `45°45′36″N 4°49′48″E`. */
import { boxArea, noDegrees, type Point } from "../data/area.ts";

const degreesOfKilometre = 180 / (Math.PI * 6371.0088);

const number = String.raw`\d+(?:[.,]\d+)?|\.\d+`;
const minutes = String.raw`(?:(${number})\s*['′’]\s*(?:(${number})\s*(?:["″”]|'')\s*)?)?`;
const angle = String.raw`([-+−])?\s*(${number})\s*°?\s*${minutes}`;
const both = (one: string) => new RegExp(String.raw`^${one}\s*[,;/\s]\s*${one}$`, "i");

/** The expressions below take more time than the length of a text: no place is written with more characters. */
const longestPlace = 100;

const withoutLetters = both(angle);
const withLettersBefore = both(String.raw`([NSEW])\s*${angle}`);
const withLettersAfter = both(`${angle}([NSEW])`);

/**
 * Reads the coordinates of one place: latitude first, unless letters say otherwise.
 * @returns undefined for another text.
 * @throws {Error} for coordinates that are no degrees, or not in this order, and for minutes or seconds of 60 or more.
 */
export function parsePlace(text: string): Point | undefined {
  const angles = anglesOf(text);
  if (angles === undefined) return undefined;
  const letters = angles.map(({ letter }) => ("NS".includes(letter) ? "N" : "E")).join("");
  const isNamed = angles.every(({ letter }) => letter !== "");
  if (isNamed && letters !== "NE" && letters !== "EN") return undefined;
  const [latitude = 0, longitude = 0] = (isNamed && letters === "EN" ? angles.toReversed() : angles).map(
    ({ degrees }) => degrees,
  );
  const point = { latitude, longitude };
  if (Math.abs(latitude) > 180 || Math.abs(longitude) > 180)
    throw new Error(noDegrees([latitude, longitude]));
  if (Math.abs(latitude) > 90) throw new Error("Latitude comes first, from −90 to 90: 45.76, 4.83.");
  return point;
}

interface Angle {
  /** N, S, E, W or none. */
  readonly letter: string;
  readonly degrees: number;
}

function anglesOf(given: string): readonly Angle[] | undefined {
  const text = given.replace(/\s+/g, " ");
  if (text.length > longestPlace) return undefined;
  const [, ...before] = withLettersBefore.exec(text) ?? [];
  const [, ...after] = withLettersAfter.exec(text) ?? [];
  const [, ...plain] = withoutLetters.exec(text) ?? [];
  if (before.length > 0)
    return [before.slice(0, 5), before.slice(5)].map(([letter, ...parts]) => angleOf(parts, letter));
  if (after.length > 0) return [after.slice(0, 5), after.slice(5)].map((parts) => angleOf(parts, parts[4]));
  if (plain.length > 0) return [plain.slice(0, 4), plain.slice(4)].map((parts) => angleOf(parts));
  return undefined;
}

type Parts = readonly (string | undefined)[];

function angleOf([sign = "", degrees, minutes, seconds]: Parts, letter = ""): Angle {
  const numberOf = (digits = "0") => Number(digits.replace(",", "."));
  const hasInnerDecimals =
    (minutes !== undefined && /[.,]/.test(degrees ?? "")) ||
    (seconds !== undefined && /[.,]/.test(minutes ?? ""));
  if (numberOf(minutes) >= 60 || numberOf(seconds) >= 60 || hasInnerDecimals)
    throw new Error(
      "Minutes and seconds are less than 60, and only the last number of an angle has decimals.",
    );
  const size = numberOf(degrees) + numberOf(minutes) / 60 + numberOf(seconds) / 3_600;
  const isNegative = (sign === "-" || sign === "−") !== /[SW]/i.test(letter);
  return { letter: letter.toUpperCase(), degrees: isNegative ? -size : size };
}

/** The square that reaches some kilometres from a place to each side. @throws {Error} near a pole. */
export function squareAround({ latitude, longitude }: Point, kilometres: number): readonly Point[] {
  const height = kilometres * degreesOfKilometre;
  const width = height / Math.cos((latitude * Math.PI) / 180);
  const [south, north] = [latitude - height, latitude + height];
  const [west, east] = [longitude - width, longitude + width].map((degrees) =>
    Math.abs(degrees) > 180 ? degrees - 360 * Math.sign(degrees) : degrees,
  ) as [number, number];
  const area = north > 90 || south < -90 ? undefined : boxArea({ west, south, east, north });
  if (area === undefined) throw new Error("This place is too near to a pole for an area around it.");
  return area.boundary;
}
