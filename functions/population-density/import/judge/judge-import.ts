import { ImportError } from "../../../../shared/import/import-error.ts";
import { firstProblems } from "../../../../shared/import/problems.ts";
import type { Finding, FindingCode } from "../../tiles/findings.ts";
import { type TypicalCalendar, TypicalWeek } from "../../tiles/typical-calendar.ts";
import { withOtherHours } from "./figures.ts";
import { figuresOfHours, type HourFigures } from "./hour-figures.ts";
import { type FoundFinding, judgeDay } from "./judgement.ts";
import type { PartFigures } from "./part-figures.ts";
import type { RowFigures } from "./row-sums.ts";
import type { JudgementThresholds } from "./thresholds.ts";
import { datesCompared } from "./usual.ts";

/** An observed day that an import is about to publish. */
interface SummedDay {
  /** `YYYY-MM-DD`, UTC. */
  readonly date: string;
  readonly parts: readonly PartFigures[];
  readonly rows: RowFigures;
}

/** A day that an import may publish. */
export interface JudgedDay {
  readonly date: string;
  /** Everything that was found; not all of it may be kept. */
  readonly found: readonly DatedFinding[];
  /** What may be kept and told. */
  readonly findings: readonly Finding[];
  readonly figures: readonly HourFigures[];
  /** As they are published afterwards: hours that the import does not name are as before. */
  readonly parts: readonly PartFigures[];
}

/** A finding as an import prints it. */
export interface DatedFinding extends Omit<Finding, "hours"> {
  readonly date: string;
}

/** How an import is judged. */
export interface JudgementRules {
  readonly calendar: TypicalCalendar;
  readonly thresholds: JudgementThresholds;
  /** Codes that do not refuse it. */
  readonly accepted: readonly FindingCode[];
  /** Days that stay out of typical weekdays are not compared with. */
  readonly excluded: ReadonlySet<string>;
  /** What is published of a day. */
  readonly readFigures: (date: string) => Promise<readonly PartFigures[]>;
  readonly now: number;
  /** What was found of the days of an import that is made again: they are not judged again. */
  readonly foundBefore?: ReadonlyMap<string, Pick<JudgedDay, "findings">> | undefined;
}

/**
 * Judges the days of an import, each also by those before it.
 * @param days in ascending order.
 * @throws {ImportError} naming the critical findings that are not accepted.
 */
export async function judgeDays(days: readonly SummedDay[], rules: JudgementRules): Promise<JudgedDay[]> {
  const judged = await judgementsOf(days, rules);
  const refusals = judged
    .flatMap(({ found }) => found)
    .filter(({ code, level }) => level === "critical" && !rules.accepted.includes(code));
  if (refusals.length === 0) return judged;
  const codes = [...new Set(refusals.map(({ code }) => code))];
  throw new ImportError([
    ...firstProblems(refusals.map(findingText)),
    `nothing was written; if the numbers are right: ${codes.map((code) => `--accept ${code}`).join(" ")}`,
  ]);
}

/** A finding as a line. */
export function findingText({ date, code, text }: DatedFinding): string {
  return `${date} ${code}: ${text}`;
}

async function judgementsOf(days: readonly SummedDay[], rules: JudgementRules): Promise<JudgedDay[]> {
  const week = new TypicalWeek(rules.calendar);
  const published = new Map<string, readonly PartFigures[]>();
  const publishedOn = async (date: string) => {
    const known = published.get(date) ?? (await rules.readFigures(date));
    published.set(date, known);
    return known;
  };
  const judged: JudgedDay[] = [];
  for (const { date, parts, rows } of days) {
    const before = await publishedOn(date);
    const partBefore = (part: string) => before.find((each) => each.part === part)?.figures;
    const compared = rules.foundBefore === undefined ? datesCompared(date, week) : [];
    const earlier = [];
    for (const each of compared.filter((other) => !rules.excluded.has(other))) {
      earlier.push({ date: each, figures: (await publishedOn(each)).map(({ figures }) => figures) });
    }
    const hoursBefore = parts.reduce(
      (hours, { part }) => hours & (partBefore(part)?.hours ?? 0),
      2 ** 24 - 1,
    );
    const { timeZone } = rules.calendar;
    const { thresholds, now } = rules;
    const day = { date, figures: parts.map(({ figures }) => figures), rows, hoursBefore };
    const found =
      rules.foundBefore === undefined ? judgeDay(day, { earlier, week, timeZone, thresholds, now }) : [];
    const kept =
      rules.foundBefore?.get(date)?.findings ?? found.filter(({ isPublic }) => isPublic).map(keptFinding);
    const after = parts.map(({ part, figures }) => ({
      part,
      figures: withOtherHours(figures, partBefore(part)),
    }));
    const others = before.filter(({ part }) => !parts.some((each) => each.part === part));
    // Later days of the import are compared with what it publishes.
    published.set(date, [...others, ...after]);
    judged.push({
      date,
      found: found.map(({ code, level, text }) => ({ date, code, level, text })),
      findings: kept,
      figures: figuresOfHours(after.map(({ figures }) => figures)),
      parts: after,
    });
  }
  return judged;
}

function keptFinding({ code, level, hours, text }: FoundFinding): Finding {
  return { code, level, hours, text };
}
