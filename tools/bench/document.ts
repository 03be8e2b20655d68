import { availableParallelism } from "node:os";
import type { Bench, Row } from "./bench.ts";

const heading = "## ";

/** The sections of an earlier document by the name of their bench. */
export function sectionsIn(document: string): Map<string, string> {
  const [, ...sections] = `\n${document}`.split(`\n${heading}`);
  return new Map(
    sections.map((section) => {
      const [name = "", ...lines] = section.split("\n");
      return [name, lines.join("\n").trim()];
    }),
  );
}

/**
 * The section of a bench that ran just now. It names the machine's size and Node's version, not the machine.
 * @param load is how many processes were running or waiting for a processor before.
 */
export function sectionOf({ about }: Bench, rows: readonly Row[], load: number): string {
  const day = new Date().toISOString().slice(0, 10);
  const where = `${day}, ${availableParallelism()} cores, load ${load.toFixed(1)} before, Node ${process.version}.`;
  return [about, where, tableOf(rows)].join("\n\n");
}

/** The whole document. A section of a bench that is no longer there is left out. */
export function documentOf(sections: ReadonlyMap<string, string>, order: readonly string[]): string {
  const kept = order.flatMap((name) => {
    const section = sections.get(name);
    return section === undefined ? [] : [`${heading}${name}\n\n${section}`];
  });
  const start =
    "# Benchmarks\n\nWritten by `npm run bench -- --write`, section by section, with the day of each measurement.";
  return `${[start, ...kept].join("\n\n")}\n`;
}

const columns = ["What", "Measured", "Bar", "Holds"];

/** Rows as a table of Markdown that is also aligned for a terminal. */
export function tableOf(rows: readonly Row[]): string {
  const cells = rows.map(({ what, measured, bar, holds }) => [
    what,
    measured,
    bar ?? "",
    bar === undefined ? "" : holds ? "yes" : "NO",
  ]);
  const widths = columns.map((_, column) =>
    Math.max(3, ...[columns, ...cells].map((line) => line[column]?.length ?? 0)),
  );
  const lines = [columns, widths.map((width) => "-".repeat(width)), ...cells].map((line) =>
    line.map((cell, column) => cell.padEnd(widths[column] ?? 0)),
  );
  return lines.map((line) => `| ${line.join(" | ")} |`).join("\n");
}
