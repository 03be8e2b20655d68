import type { Command } from "commander";
import type { DataSet } from "../../functions/population-density/tiles/data-set.ts";
import type { ToldQuality } from "../../functions/population-density/tiles/quality.ts";
import { plural } from "../../shared/plural.ts";
import { type StackOptions, withStackOptions } from "./options.ts";
import type { Print } from "./print.ts";
import { connectStack } from "./stack.ts";

interface ListOptions extends StackOptions {
  readonly json?: boolean;
}

/** `ncs list densities`: what is known of all densities together, how each day was judged, and how good forecasts were. */
export function addListDensities(listing: Command, print: Print): void {
  withStackOptions(listing.command("densities"))
    .description(
      "what is imported of densities, how each observed day was judged, and how far typical weekdays were from it",
    )
    .option("--json", "as one JSON object")
    .action(async ({ json = false, ...options }: ListOptions) => {
      await connectStack(options, "densities");
      const [{ currentDataSet }, { currentQuality }, { toldQuality }] = await Promise.all([
        import("../../functions/population-density/tiles/data-set-store.ts"),
        import("../../functions/population-density/tiles/quality-store.ts"),
        import("../../functions/population-density/tiles/quality.ts"),
      ]);
      const [dataSet, days] = [await currentDataSet(), (await currentQuality()).map(toldQuality)];
      if (json) print(JSON.stringify({ ...dataSet, quality: days }, undefined, 2));
      else if (dataSet === undefined) print("nothing was imported");
      else for (const line of [...linesOf(dataSet), ...judgedDays(days)]) print(line);
    });
}

/** A line for each observed day, and one for each finding below it. */
function judgedDays(days: readonly ToldQuality[]): string[] {
  if (days.length === 0) return ["no observed day was judged"];
  const rows = days.map(({ day, hours, people, cells, suppressedShare, findings, isExcluded }) => [
    day,
    String(hours),
    people.toLocaleString("en"),
    cells.toLocaleString("en"),
    percent(suppressedShare),
    [
      findings.length === 0 ? "good" : findings.map(({ code }) => code).join(" "),
      ...(isExcluded ? ["excluded"] : []),
    ].join(", "),
  ]);
  const lines = alignedRows([["day", "hours", "people", "cells", "suppressed", "judgement"], ...rows]);
  return lines.flatMap((line, index) => {
    const findings = days[index - 1]?.findings ?? [];
    return [line, ...findings.map(({ code, level, text }) => `            ${level} ${code}: ${text}`)];
  });
}

function linesOf({
  newestDay,
  precisions,
  thresholds,
  provenance,
  calendar,
  compared = [],
}: DataSet): string[] {
  const { timeZone = "UTC", holidays = [] } = calendar ?? {};
  return [
    `observed until:   ${newestDay ?? "no day was observed"}`,
    `precisions:       ${precisions.join(", ")}`,
    `K:                ${thresholds.map(({ threshold }) => threshold).join(", ")}`,
    `sources:          ${provenance.map(({ source }) => source).join("; ") || "not recorded"}`,
    `typical weekdays: in ${timeZone}, ${holidaysText(holidays)}`,
    ...(compared.length === 0 ? ["no observed day was compared with a typical one"] : [tableOf(compared)]),
  ];
}

function holidaysText(holidays: readonly string[]): string {
  const [first, last] = [holidays.at(0), holidays.at(-1)];
  const when = first === last ? ` on ${first}` : ` from ${first} to ${last}`;
  return `${holidays.length} ${plural(holidays.length, "holiday")}${first === undefined ? "" : when}`;
}

function tableOf(compared: NonNullable<DataSet["compared"]>): string {
  const rows = compared.flatMap(({ day, errors, box }) =>
    errors.map(({ precision, slots, weeks, observed, error, within }) => [
      day,
      String(precision),
      slots.toLocaleString("en"),
      String(weeks),
      observed === 0 ? "" : percent(error / observed),
      percent(within / slots),
      box === undefined ? "" : [box.west, box.south, box.east, box.north].join(),
    ]),
  );
  const all = [["day", "precision", "cells × hours", "weeks", "WAPE", "within range", "box"], ...rows];
  return alignedRows(all).join("\n");
}

/** Rows as lines, their columns aligned at the right. */
function alignedRows(all: readonly (readonly string[])[]): string[] {
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0))) ?? [];
  return all.map((row) => row.map((text, column) => text.padStart(widths[column] ?? 0)).join("  "));
}

function percent(fraction: number): string {
  return `${(100 * fraction).toFixed(1)} %`;
}
