import { availableParallelism } from "node:os";
import type { Bench, Row } from "./bench.ts";

const heading = "## ";

/**
 * The document with the section of a bench that ran just now: of its rows, those that have a bar. Sections of benches
 * that are no longer there are left out. The document stays as it is when no row has a bar: nothing was measured.
 * @param load is how many processes were running or waiting for a processor before.
 * @throws if a row does not hold: what the document says is so.
 */
export function documentWith(
  document: string,
  benches: Readonly<Record<string, Pick<Bench, "about">>>,
  measured: { readonly name: string; readonly rows: readonly Row[]; readonly load: number },
): string {
  const missed = measured.rows.filter(({ holds }) => !holds);
  if (missed.length > 0) {
    const which = missed.map(({ what, measured, bar }) => `${what} (${measured}, ${bar})`).join("; ");
    throw new Error(`${measured.name} is not written, because its bar is not reached: ${which}`);
  }
  if (measured.rows.every(({ bar }) => bar === undefined)) return document;
  const earlier = sectionsIn(document);
  const sections = Object.entries(benches).flatMap(([name, bench]) => {
    const section = name === measured.name ? sectionOf(bench, measured) : earlier.get(name);
    return section === undefined ? [] : [`${heading}${name}\n\n${section}`];
  });
  return `${[introduction, ...sections].join("\n\n")}\n`;
}

const introduction = [
  "# Benchmarks\n",
  "Written by `npm run bench -- --write`, section by section, with the day of each measurement; a section with a row that",
  "does not hold is not written. Here are the limits. `npm run bench` prints more rows; `-- --brief` runs every bench in",
  "its smallest size, as CI does, and checks no limit.",
].join("\n");

/** The sections of a document by the name of their bench. */
function sectionsIn(document: string): Map<string, string> {
  const [, ...sections] = `\n${document}`.split(`\n${heading}`);
  return new Map(
    sections.map((section) => {
      const [name = "", ...lines] = section.split("\n");
      return [name, lines.join("\n").trim()];
    }),
  );
}

/** It names the machine's size and Node's version, not the machine. */
function sectionOf(
  { about }: Pick<Bench, "about">,
  { rows, load }: { readonly rows: readonly Row[]; readonly load: number },
): string {
  const day = new Date().toISOString().slice(0, 10);
  const where = `${day}, ${availableParallelism()} cores, load ${load.toFixed(1)} before, Node ${process.version}.`;
  return [about, where, tableOf(rows.filter(({ bar }) => bar !== undefined))].join("\n\n");
}

/** Rows as a table of Markdown that is also aligned for a terminal. */
export function tableOf(rows: readonly Row[]): string {
  const lines = rows.map(({ what, measured, bar = "", holds }) => [
    what,
    measured,
    holds ? bar : `${bar}: MISSED`,
  ]);
  const columns = ["What", "Measured", "Limit"];
  const widths = columns.map((_, column) =>
    Math.max(3, ...[columns, ...lines].map((line) => line[column]?.length ?? 0)),
  );
  return [columns, widths.map((width) => "-".repeat(width)), ...lines]
    .map((line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`)
    .join("\n");
}
