import { groundRiskClasses } from "./ground-risk.ts";
import type { Summary } from "./summary.ts";

/** The formats of a summary, by media type; the first is the one for callers who name none. */
export const summaryFormats = {
  "application/json": {
    contentType: "application/json",
    textOf: (summary: Summary) => JSON.stringify(summary),
  },
  "text/csv": { contentType: "text/csv; charset=utf-8; header=present", textOf: csvOf },
} as const;

const columns = [
  "startTime",
  "endTime",
  "people",
  "minPeople",
  "maxPeople",
  "densestGeohash",
  "densestPplDensity",
  "densestMinPplDensity",
  "densestMaxPplDensity",
  ...groundRiskClasses.flatMap((name) => [`${name}_cells`, `${name}_areaKm2`]),
  "isQuietest",
  "isBusiest",
];

/** A summary as CSV (RFC 4180): a header, and a row for each hour. Numbers without an estimate are empty. */
function csvOf({ quietestHour, busiestHour, intervals }: Summary): string {
  const rows = intervals.map(
    ({ startTime, endTime, people, minPeople, maxPeople, densestCell, groundRisk }) => [
      startTime,
      endTime,
      people,
      minPeople,
      maxPeople,
      densestCell?.geohash,
      densestCell?.pplDensity,
      densestCell?.minPplDensity,
      densestCell?.maxPplDensity,
      ...groundRisk.flatMap(({ cells, areaKm2 }) => [cells, areaKm2]),
      startTime === quietestHour?.startTime,
      startTime === busiestHour?.startTime,
    ],
  );
  return [columns, ...rows].map((row) => `${row.join(",")}\r\n`).join("");
}
