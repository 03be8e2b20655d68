import { type Command, InvalidArgumentError } from "commander";
import type { Box } from "../../functions/population-density/cover/box.ts";
import { dayOf } from "../../shared/calendar.ts";
import { coveragePathOf, datesBefore, generateDensity } from "../import/density/generate-density.ts";
import { boxOf, dateOf, wholeNumber } from "./options.ts";
import type { Print } from "./print.ts";

/** `ncs generate`: made-up files to import, which hold no data of real people. */
export function addGenerate(generating: Command, print: Print): void {
  generating
    .command("density")
    .description(
      "people in each cell and hour by a model of real cities, and the covered area in a file of the same name",
    )
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

function csvPathOf(text: string): string {
  if (text.endsWith(".csv")) return text;
  throw new InvalidArgumentError("It must end in .csv.");
}
