/** What keeps a query from being asked, and what would mend it. */
import { counted, whole } from "../base/numbers.ts";
import { afterHours, hoursFromNow, nextHour } from "../base/time.ts";
import { cellCount } from "../data/area.ts";
import type { Capabilities } from "../data/capabilities.ts";
import { areCovered } from "../data/covered.ts";
import type { Query } from "../data/query.ts";
import type { ViewState } from "./address.ts";
import type { Example } from "./examples.ts";

/** Why a query cannot be asked. */
export interface QueryProblem {
  /** Where the problem is with its areas: there is none, or nothing of them is covered. */
  readonly areas?: "missing" | "uncovered";
  readonly reason: string;
  readonly remedies: readonly Remedy[];
}

/** A change after which the query can be asked. */
interface Remedy {
  readonly label: string;
  readonly change: ViewState;
}

/** Lengths of a period that the form offers. */
export const lengths: readonly { readonly hours: number; readonly name: string }[] = [
  { hours: 1, name: "1 hour" },
  { hours: 6, name: "6 hours" },
  { hours: 24, name: "1 day" },
  { hours: 48, name: "2 days" },
  { hours: 168, name: "7 days" },
];

type Limits = Pick<Capabilities, "precisions" | "limits" | "period" | "coverage">;

/** The cells of the largest area of a query: each area is a request of its own. */
export function largestCount({ areas }: Pick<Query, "areas">, precision: number): number {
  return Math.max(0, ...areas.map((area) => cellCount(area, precision)));
}

/** The finest precision at which areas have a synchronous answer; undefined if none has. */
export function finestFor(
  query: Pick<Query, "areas" | "hours">,
  { precisions, limits }: Limits,
): number | undefined {
  const limit = limits.synchronous.slots;
  return precisions.findLast((precision) => largestCount(query, precision) * query.hours <= limit);
}

/** Checks a query that may be incomplete: its first problem; undefined if it can be asked. */
export function validate(
  { areas, from, hours, precision }: Omit<Query, "from"> & { readonly from: Date | undefined },
  limits: Limits,
  examples: readonly Example[],
  now: Date,
): QueryProblem | undefined {
  if (areas.length === 0) {
    const [example] = examples;
    const remedies =
      example === undefined ? [] : [{ label: `Use ${example.name}`, change: { areas: [example.area] } }];
    return { areas: "missing", reason: "There is no area yet.", remedies };
  }
  const rings = areas.map(({ boundary }) => boundary);
  if (!areCovered(rings, limits.coverage))
    return { areas: "uncovered", reason: "Nothing of this is covered.", remedies: [] };
  if (from === undefined) return { reason: "The period has no start.", remedies: [nextHours(24, now)] };
  return periodProblem(from, hours, limits, now) ?? sizeProblem({ areas, from, hours, precision }, limits);
}

function nextHours(hours: number, now: Date): Remedy {
  return { label: `Use the next ${lengthText(hours)}`, change: { from: nextHour(now), hours } };
}

function lastHours(hours: number, now: Date): Remedy {
  return { label: `Use the last ${lengthText(hours)}`, change: { from: hoursFromNow(-hours, now), hours } };
}

function lengthText(hours: number): string {
  return hours === 1 ? "hour" : counted(hours, "hour");
}

function periodProblem(from: Date, hours: number, { period }: Limits, now: Date): QueryProblem | undefined {
  if (hours > period.maxHours) {
    return {
      reason: `A period has at most ${counted(period.maxHours, "hour")}.`,
      remedies: [{ label: `Use ${counted(period.maxHours, "hour")}`, change: { hours: period.maxHours } }],
    };
  }
  if (from < monthsFrom(now, -period.monthsBack)) {
    return {
      reason: `Densities are kept for ${counted(period.monthsBack, "month")}.`,
      remedies: [lastHours(24, now)],
    };
  }
  if (hours > 1 && from < now && afterHours(from, hours) > now) {
    return {
      reason: "A period is either past or still to come: this one has begun and not ended.",
      remedies: [nextHours(hours, now), lastHours(hours, now)],
    };
  }
  if (afterHours(from, hours) > monthsFrom(now, period.monthsAhead)) {
    const reason = `Densities are forecast for ${counted(period.monthsAhead, "month")}.`;
    return { reason, remedies: [nextHours(24, now)] };
  }
  return undefined;
}

function monthsFrom(now: Date, months: number): Date {
  const moment = new Date(now);
  moment.setUTCMonth(moment.getUTCMonth() + months);
  // A month without such a day: its last one.
  if (moment.getUTCDate() !== now.getUTCDate()) moment.setUTCDate(0);
  return moment;
}

function sizeProblem(query: Query, limits: Limits): QueryProblem | undefined {
  const limit = limits.limits.synchronous.slots;
  const cells = largestCount(query, query.precision);
  if (cells * query.hours <= limit) return undefined;
  const finest = finestFor(query, limits);
  const longest = lengths.findLast(({ hours }) => cells * hours <= limit);
  return {
    reason: `The answer would be too large: at most ${whole(limit)} cells × hours.`,
    remedies: [
      ...(finest === undefined ? [] : [{ label: `Use precision ${finest}`, change: { precision: finest } }]),
      ...(longest === undefined ? [] : [{ label: `Use ${longest.name}`, change: { hours: longest.hours } }]),
    ],
  };
}
