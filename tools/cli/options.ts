import { InvalidArgumentError } from "commander";
import type { Box } from "../../functions/population-density/cover/box.ts";
import { bbox } from "../import/density/box.ts";
import { problemText } from "../import/schema-problems.ts";

/** A box: west, south, east and north in degrees. */
export function boxOf(text: string): Box {
  const numbers = text.split(",").map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  if (numbers.length !== 4 || numbers.some(Number.isNaN)) {
    throw new InvalidArgumentError("It must be four numbers of degrees: west,south,east,north.");
  }
  const parsed = bbox.safeParse(numbers);
  if (parsed.success) return parsed.data;
  const [first, second, third, fourth] = numbers;
  const isSwapped = bbox.safeParse([second, first, fourth, third]).success;
  const swapped = isSwapped ? " West,south,east,north: latitude and longitude swapped?" : "";
  const problems = new Set(parsed.error.issues.map((issue) => problemText(issue, numbers)));
  throw new InvalidArgumentError(`It ${[...problems].join("; ")}.${swapped}`);
}

/** What is said of a text that is no address of a service. */
export const addressForm =
  "must be the address of a service, such as https://api.example.com or http://127.0.0.1:3000";

/** The address of a service, without a slash at its end; undefined if the text is none. */
export function addressIn(text: string): string | undefined {
  return /^https?:\/\//.test(text) && URL.canParse(text) ? text.replace(/\/+$/, "") : undefined;
}

/** A whole number in a range. */
export function wholeNumber(least: number, most: number) {
  return (text: string): number => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}
