import type { Command } from "commander";
import type { DataSet } from "../../functions/population-density/tiles/data-set.ts";
import { type StackOptions, withStackOptions } from "./options.ts";
import type { Print } from "./print.ts";
import { useStack } from "./stack.ts";

/** `ncs list densities`: what is known of all densities together, and how good their forecasts were. */
export function addListDensities(listing: Command, print: Print): void {
  withStackOptions(listing.command("densities"))
    .description("what is imported of densities, and how far typical weekdays were from each observed day")
    .action(async (options: StackOptions) => {
      await useStack(options);
      const [{ currentDataSet }, { checkConnection }, { densities }] = await Promise.all([
        import("../../functions/population-density/tiles/data-set-store.ts"),
        import("../../shared/aws/connection.ts"),
        import("../../functions/population-density/tiles/table.ts"),
      ]);
      await checkConnection(densities);
      const dataSet = await currentDataSet();
      if (dataSet === undefined) print("nothing was imported");
      else for (const line of linesOf(dataSet)) print(line);
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
    `typical weekdays: in ${timeZone}, ${holidays.length} holidays${
      holidays.length === 0 ? "" : ` from ${holidays.at(0)} to ${holidays.at(-1)}`
    }`,
    ...(compared.length === 0 ? ["no observed day was compared with a typical one"] : [tableOf(compared)]),
  ];
}

function tableOf(compared: NonNullable<DataSet["compared"]>): string {
  const rows = compared.flatMap(({ day, errors }) =>
    errors.map(({ precision, slots, weeks, observed, error, within }) => [
      day,
      String(precision),
      slots.toLocaleString("en"),
      String(weeks),
      observed === 0 ? "" : percent(error / observed),
      percent(within / slots),
    ]),
  );
  const all = [["day", "precision", "cells × hours", "weeks", "WAPE", "within range"], ...rows];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0))) ?? [];
  return all
    .map((row) => row.map((text, column) => text.padStart(widths[column] ?? 0)).join("  "))
    .join("\n");
}

function percent(fraction: number): string {
  return `${(100 * fraction).toFixed(1)} %`;
}
