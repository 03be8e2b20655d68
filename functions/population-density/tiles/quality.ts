import * as z from "zod/mini";
import { finding } from "./findings.ts";

/** What is published of a part of an observed day. */
const partQuality = z.object({
  part: z.string(),
  /** Hours that are counted. */
  hours: z.number(),
  /** The mean over these hours of the people in cells with a number. */
  people: z.number(),
  cells: z.number(),
  /** Suppressed cells of all these hours together. */
  suppressed: z.number(),
});

/** What is published of a part of an observed day. */
export type PartQuality = z.infer<typeof partQuality>;

const dayQuality = z.object({
  /** `YYYY-MM-DD`, UTC. */
  day: z.string(),
  parts: z.array(partQuality),
  /** What was unusual, by the parts that were imported together. */
  findings: z.array(z.extend(finding, { parts: z.array(z.string()) })),
  /** Whether it stays out of typical weekdays. */
  isExcluded: z.optional(z.boolean()),
});

/** How far an observed day is to be trusted. */
export type DayQuality = z.infer<typeof dayQuality>;

/** How far observed days are to be trusted, as the table holds it. */
export const quality = z.object({
  /** The latest first. */
  days: z.array(dayQuality),
  /** Counts the writes. */
  revision: z.number(),
});

/** How far observed days are to be trusted. */
export type Quality = z.infer<typeof quality>;

/** What an import has published of a day. */
export interface ImportedQuality {
  readonly day: string;
  readonly parts: readonly PartQuality[];
  readonly findings: readonly z.infer<typeof finding>[];
}

/** How many days observed days are kept. */
const daysKept = 100;
/** The maximum number of parts of these days that are kept: an item may have 400 KB. */
const maxParts = 1_000;

/** The quality of days after an import: what it has not published of a day stays. */
export function withQuality(
  before: readonly DayQuality[],
  imported: readonly ImportedQuality[],
  excluded: ReadonlySet<string>,
): DayQuality[] {
  const days = new Map(before.map((each) => [each.day, each]));
  for (const { day, parts, findings } of imported) {
    const own = parts.map(({ part }) => part);
    const known = days.get(day);
    const otherParts = known?.parts.filter(({ part }) => !own.includes(part)) ?? [];
    const otherFindings =
      known?.findings.filter((each) => each.parts.some((part) => !own.includes(part))) ?? [];
    days.set(day, {
      day,
      parts: [...otherParts, ...parts].sort((one, other) => (one.part < other.part ? -1 : 1)),
      findings: [...otherFindings, ...findings.map((each) => ({ ...each, parts: own }))],
    });
  }
  const latest = [...days.values()].sort((one, other) => (one.day < other.day ? 1 : -1)).slice(0, daysKept);
  let parts = 0;
  return latest
    .filter((each) => {
      parts += each.parts.length;
      return parts <= maxParts;
    })
    .map(({ isExcluded: _, ...each }) => (excluded.has(each.day) ? { ...each, isExcluded: true } : each));
}

/** What callers and operators read of a day. */
export interface ToldQuality {
  readonly day: string;
  /** The most hours of any of its parts. */
  readonly hours: number;
  readonly people: number;
  readonly cells: number;
  readonly suppressedShare: number;
  readonly findings: DayQuality["findings"];
  readonly isExcluded: boolean;
}

/** Sums up the parts of a day. */
export function toldQuality({ day, parts, findings, isExcluded = false }: DayQuality): ToldQuality {
  const sum = (number: (part: PartQuality) => number) => parts.reduce((all, part) => all + number(part), 0);
  const slots = sum(({ cells, hours }) => cells * hours);
  return {
    day,
    hours: Math.max(0, ...parts.map(({ hours }) => hours)),
    people: sum(({ people }) => people),
    cells: sum(({ cells }) => cells),
    suppressedShare: slots === 0 ? 0 : Math.round((1e4 * sum(({ suppressed }) => suppressed)) / slots) / 1e4,
    findings,
    isExcluded,
  };
}
