import { type Command, InvalidArgumentError } from "commander";
import type { Box } from "../../functions/population-density/cover/box.ts";
import { dayOf, isCalendarDate } from "../../shared/calendar.ts";
import { bbox } from "../import/density/box.ts";
import { coveragePathOf, datesBefore, generateDensity } from "../import/density/generate-density.ts";
import type { Print } from "./print.ts";

/** `ncs generate`: made-up files to import, which hold no data of real people. */
export function addGenerate(generating: Command, print: Print): void {
  generating
    .command("density")
    .description("people in the cells of a city that does not exist, with the covered area beside them")
    .requiredOption("--bbox <west,south,east,north>", "in degrees", boxOf)
    .requiredOption("--weeks <count>", "whole weeks of days", wholeNumber(1, 100))
    .option("--until <date>", "the day after the last one", dateOf, dayOf(new Date()))
    .option("--precision <length>", "length of the geohashes", wholeNumber(2, 12), 7)
    .requiredOption("--out <file.csv>", "where to write", csvPathOf)
    .action(async ({ bbox: box, weeks, until, precision, out }: DensityOptions) => {
      await generateDensity({ box, dates: datesBefore(until, weeks), precision, out });
      print(`${out} and ${coveragePathOf(out)} written`);
    });
}

interface DensityOptions {
  readonly bbox: Box;
  readonly weeks: number;
  readonly until: string;
  readonly precision: number;
  readonly out: string;
}

function boxOf(text: string): Box {
  const parsed = bbox.safeParse(
    text.split(",").map((part) => (part.trim() === "" ? Number.NaN : Number(part))),
  );
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError(parsed.error.issues.map(({ message }) => message).join("; "));
}

function wholeNumber(min: number, max: number) {
  return (text: string): number => {
    const number = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

function dateOf(text: string): string {
  if (isCalendarDate(text)) return text;
  throw new InvalidArgumentError("It must be a date of the calendar such as 2026-11-20.");
}

function csvPathOf(text: string): string {
  if (text.endsWith(".csv")) return text;
  throw new InvalidArgumentError("It must end in .csv.");
}
