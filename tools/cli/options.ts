import { InvalidArgumentError } from "commander";
import type { Box } from "../../functions/population-density/cover/box.ts";
import { bbox } from "../import/density/box.ts";

/** A box: west, south, east and north in degrees. */
export function boxOf(text: string): Box {
  const numbers = text.split(",").map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  const parsed = bbox.safeParse(numbers);
  if (parsed.success) return parsed.data;
  const [first, second, third, fourth] = numbers;
  const isSwapped = bbox.safeParse([second, first, fourth, third]).success;
  const swapped = isSwapped ? "; west,south,east,north: latitude and longitude swapped?" : "";
  throw new InvalidArgumentError(`${parsed.error.issues.map(({ message }) => message).join("; ")}${swapped}`);
}

/** A whole number in a range. */
export function wholeNumber(least: number, most: number) {
  return (text: string): number => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}
