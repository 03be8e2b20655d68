import type { Box } from "../../../functions/population-density/cover/box.ts";
import {
  type CountedPeople,
  type EntryOptions,
  readJournal,
} from "../../../functions/population-density/import/store/journal-store.ts";
import { weeksRemembered } from "../../../functions/population-density/privacy/typical-week.ts";
import type { DataSet } from "../../../functions/population-density/tiles/data-set.ts";
import { currentDataSet } from "../../../functions/population-density/tiles/data-set-store.ts";
import { forecastQuality } from "../../../functions/population-density/tiles/forecast-error.ts";
import { type ToldQuality, toldQuality } from "../../../functions/population-density/tiles/quality.ts";
import { currentQuality } from "../../../functions/population-density/tiles/quality-store.ts";
import { utcCalendar } from "../../../functions/population-density/tiles/typical-calendar.ts";
import { boxOfPositions } from "../../../shared/geo-parquet.ts";
import { ImportError } from "../../../shared/import/import-error.ts";
import { plural } from "../../../shared/plural.ts";

/**
 * The page that users of statistics ask for: where the densities come from, how they are made, how good they are, and
 * what they cannot tell. It has nothing that callers cannot read, but the market shares.
 * @throws {ImportError} before the first import.
 */
export async function describeDensities(now: Date): Promise<string> {
  const dataSet = await currentDataSet();
  if (dataSet === undefined) throw new ImportError(["nothing was imported"]);
  const days = (await currentQuality()).map(toldQuality);
  const imports = (await readJournal()).flatMap(({ options, endedAt }) =>
    endedAt === undefined ? [] : [options],
  );
  const sections = [
    ["Source and licence", `${sourceText(dataSet)}\n\n${countedText(imports)}`],
    ["Coverage", coverageText(dataSet, days)],
    [
      "Precisions",
      `Geohashes of ${dataSet.precisions.join(", ")} characters; a number is for one cell in one hour (UTC).`,
    ],
    ["Confidentiality", confidentialityText(dataSet)],
    ["Extrapolation", shareText(imports)],
    ["Typical hours", typicalText(dataSet)],
    ["Measured error of typical hours", errorText(dataSet)],
    ["Judged days", judgedText(days)],
    [
      "Known limits",
      limitsOf(imports)
        .map((line) => `- ${line}`)
        .join("\n"),
    ],
  ];
  const title = `# Population densities\n\nAs of ${now.toISOString().slice(0, 10)}. Made by \`ncs describe densities\`.`;
  return `${[title, ...sections.map(([heading, text]) => `## ${heading}\n\n${text}`)].join("\n\n")}\n`;
}

function sourceText({ provenance }: DataSet): string {
  if (provenance.length === 0) return "Not recorded.";
  return provenance
    .map(({ source, licence }) => `- ${source}${licence === undefined ? "" : `, ${licence}`}`)
    .join("\n");
}

function isCount(options: EntryOptions): options is CountedPeople {
  return options.command === "density";
}

/** What the numbers were made from. An import of the demo data or of a model of cities is not in the journal. */
function countedText(imports: readonly EntryOptions[]): string {
  const counts = imports.filter(isCount).length;
  const grids = imports.length - counts;
  const files = (number: number) => `${count(number)} ${plural(number, "import")}`;
  return [
    ...(counts > 0 ? [`${files(counts)} of files of counted people.`] : []),
    ...(grids > 0
      ? [
          `${files(grids)} of a grid of residents, spread over the day by an assumed curve: there, nobody was counted.`,
        ]
      : []),
    ...(imports.length === 0
      ? ["No import of files is recorded: who was counted is not known, and the numbers may be of a model."]
      : []),
  ].join(" ");
}

/** Areas that are named one by one. */
const areasNamed = 20;

/** The pieces of what is covered, the largest first. */
function areasText({ outline, coverage }: DataSet): string | undefined {
  if (coverage === undefined) return undefined;
  const boxes = (outline?.coordinates ?? []).map(([ring = []]) => boxOfPositions(ring));
  if (boxes.length <= 1) return `Within ${boxText(coverage)}.`;
  const size = ({ west, south, east, north }: Box) => (east - west) * (north - south);
  const largest = boxes.sort((one, other) => size(other) - size(one)).slice(0, areasNamed);
  const others = boxes.length - largest.length;
  return [
    `${count(boxes.length)} areas that do not touch each other, each within:`,
    "",
    ...largest.map((box) => `- ${boxText(box)}`),
    ...(others > 0 ? [`- and ${count(others)} smaller ones`] : []),
    "",
  ].join("\n");
}

function boxText({ west, south, east, north }: Box): string {
  return `${south} to ${north} degrees north and ${west} to ${east} degrees east`;
}

function coverageText(dataSet: DataSet, days: readonly ToldQuality[]): string {
  const areas = areasText(dataSet);
  if (areas === undefined) return "Nothing is covered.";
  const { newestDay } = dataSet;
  const [latest] = days;
  const were = plural(latest?.cells ?? 0, "cell was", "cells were");
  const cells = latest === undefined ? "" : ` ${count(latest.cells)} ${were} covered on ${latest.day}.`;
  const observed = newestDay === undefined ? "No day was observed." : `Observed until ${newestDay}.`;
  return `${areas}${areas.endsWith("\n") ? `\n${cells.trimStart()}` : cells} ${observed}`;
}

function confidentialityText({ thresholds }: DataSet): string {
  const known = thresholds.map(({ threshold }) => threshold);
  const smallest = Math.min(...known);
  const others =
    new Set(known).size < 2 ? "" : ` K was raised: it was ${[...new Set(known)].join(", then ")}.`;
  return (
    `A cell and hour with fewer than K = ${smallest} counted people has no number (\`LOW_DENSITY\`).${others} Coarser cells ` +
    "add up what is published of finer ones; of their suppressed cells, a multiple of K at most. No count below K can be " +
    "computed, nor any number below K excluded, from all published numbers together."
  );
}

function shareText(imports: readonly EntryOptions[]): string {
  const shares = [...new Set(imports.filter(isCount).map(({ marketShare }) => marketShare))];
  const partial = shares.filter((share) => share < 1);
  if (shares.length === 0) return "None: nobody was counted, so no sample is extrapolated.";
  if (partial.length === 0)
    return "None: no import of counts named a market share, so numbers are as their files have them.";
  return (
    `Counts are of a share of all people: ${partial.map((share) => percent(share)).join(", ")}. Numbers are divided by it; ` +
    "their range combines the error of that sample (95 %) with that of the counts."
  );
}

function typicalText({ calendar = utcCalendar }: DataSet): string {
  const { timeZone, holidays } = calendar;
  return (
    `Hours to come, and past ones that were not observed, are answered from a typical week: the mean of the same local ` +
    `hour (${timeZone}) of the last ${weeksRemembered} observed weeks, with their lowest minimum and highest maximum as ` +
    `range. ${holidays.length} ${plural(holidays.length, "holiday counts as Sunday", "holidays count as Sundays")}. ` +
    "Excluded days are not among these weeks."
  );
}

function errorText({ compared = [] }: DataSet): string {
  const quality = forecastQuality(compared);
  if (quality.length === 0) return "No observed day was compared with a typical one yet.";
  const boxes = [...new Set(quality.flatMap(({ boxes = [] }) => boxes.map(boxText)))];
  const where = boxes.length === 0 ? "in the regions of these days" : `within ${boxes.join("; ")}`;
  return [
    `Measured ${where}; elsewhere it is not known.`,
    "",
    "| Precision | Days | Weeks | WAPE | Within range |",
    "|---|---|---|---|---|",
    ...quality.map(
      ({ precision, days, weeks, wape, withinRange }) =>
        `| ${precision} | ${days} | ${weeks} | ${wape === undefined ? "" : percent(wape)} | ${percent(withinRange)} |`,
    ),
  ].join("\n");
}

function judgedText(days: readonly ToldQuality[]): string {
  if (days.length === 0) return "No observed day is kept.";
  return [
    "| Day | Hours | People | Cells | Suppressed | Findings |",
    "|---|---|---|---|---|---|",
    ...days.map(({ day, hours, people, cells, suppressedShare, findings, isExcluded }) => {
      const found = findings.map(({ code, level, text }) => `${level} ${code}: ${text}`);
      const notes = [...found, ...(isExcluded ? ["not in typical weekdays"] : [])].join("; ");
      return `| ${day} | ${hours} | ${count(people)} | ${count(cells)} | ${percent(suppressedShare)} | ${notes} |`;
    }),
  ].join("\n");
}

function limitsOf(imports: readonly EntryOptions[]): string[] {
  return imports.some(isCount) ? [limitOfCounts, ...limits] : limits;
}

const limitOfCounts =
  "People are where their devices are counted: who has several is counted several times, who has none is not.";

/** Limits of all densities. */
const limits = [
  "People of suppressed cells are not in totals of the finest precision.",
  "A range holds what was counted, and for a typical hour what was counted in its weeks. A week to come need not be in it.",
  "A day is judged by numbers before it, so a fault that lasts longer than four weeks becomes usual.",
  "An event that really changed where people are is found like a fault: the operator accepts it, or excludes the day.",
];

function count(number: number): string {
  return number.toLocaleString("en");
}

function percent(fraction: number): string {
  return `${(100 * fraction).toFixed(1)} %`;
}
