import { countedBytes, isLarge } from "../../functions/population-density/query/bytes.ts";
import { markdownTable } from "./generated-part.ts";

type Format = Parameters<typeof countedBytes>;

const formats: readonly (readonly [name: string, ...Format])[] = [
  ["JSON", "application/json"],
  ["CSV", "text/csv"],
  ["CSV with a point", "text/csv", { geometry: "POINT" }],
  ["CSV with WKT", "text/csv", { geometry: "WKT" }],
  ["NDJSON", "application/x-ndjson"],
  ["GeoJSON", "application/geo+json"],
  ["GeoJSON by hour", "application/geo+json", { featuresPer: "HOUR" }],
];

/** What answers of each format are counted as, and the most cells of an answer that is not large. */
export function largeAnswersTable(): string {
  const rows = formats.map(([name, ...format]) => {
    const { cell, slot } = countedBytes(...format);
    const bytes = [String(slot), ...(cell === 0 ? [] : [`${cell} for each cell`])];
    return [name, bytes.join(", and "), mostCells(format, 1), mostCells(format, 24)];
  });
  const head = ["Format", "Bytes for each cell in each hour", "Large above, in one hour", "In 24 hours"];
  return markdownTable(head, rows);
}

function mostCells(format: Format, hours: number): string {
  let cells = 0;
  while (!isLarge({ cells: cells + 1, slots: (cells + 1) * hours }, ...format)) cells++;
  return `${cells.toLocaleString("en")} cells`;
}
