import { dayOf, hourMilliseconds, type Instant, instantAt, isAfter } from "../../../shared/calendar.ts";
import { maxHours, months } from "./limits.ts";

/** Whole hours in UTC, as hours since the epoch. */
export interface Hours {
  readonly first: number;
  readonly count: number;
}

/** The hours that cover a period; a period of no length on the hour is the hour that starts there. */
export function hoursOf(start: Instant, end: Instant): Hours {
  const first = Math.floor(start.milliseconds / hourMilliseconds);
  const endMilliseconds = end.milliseconds + (end.digits === "" ? 0 : 1);
  return { first, count: Math.max(1, Math.ceil(endMilliseconds / hourMilliseconds) - first) };
}

/** An hour of a query, and the days that may have data for it. */
export interface AskedHour {
  /** Since the epoch. */
  readonly hour: number;
  /** The hour of the day, 0…23 UTC. */
  readonly ofDay: number;
  /** Date of the observed day, `YYYY-MM-DD`. Absent for an hour to come, which has no observation. */
  readonly date: string | undefined;
}

/** The hours of a period at the time of the request. */
export function askedHours({ first, count }: Hours, now: Date): readonly AskedHour[] {
  return Array.from({ length: count }, (_, index) => {
    const start = new Date((first + index) * hourMilliseconds);
    return {
      hour: first + index,
      ofDay: start.getUTCHours(),
      date: start < now ? dayOf(start) : undefined,
    };
  });
}

/**
 * How many weekdays and observed days some hours have. Every tile of an answer may be read on all of them, and on the
 * neighbour of a weekday where typical weekdays follow local time: that costs nothing, as callers need not know it.
 */
export function storedDayCount(asked: readonly AskedHour[]): number {
  const weekdays = new Set(asked.map(({ hour }) => Math.floor(hour / 24) % 7));
  const dates = new Set(asked.flatMap(({ date }) => date ?? []));
  return weekdays.size + dates.size;
}

/** The same time of day some calendar months away, on the month's last day where it has no such day. */
export function monthsFrom(moment: Date, months: number): number {
  const moved = new Date(moment);
  moved.setUTCDate(1);
  moved.setUTCMonth(moved.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(moved.getUTCFullYear(), moved.getUTCMonth() + 1, 0)).getUTCDate();
  moved.setUTCDate(Math.min(moment.getUTCDate(), lastDay));
  return moved.getTime();
}

/** A start at most this old counts as now, to allow for the time that a request travels. */
const graceMilliseconds = 60_000;

/**
 * The first rule about time that a period breaks (specification 4.4 and 7.3, in the order of behaviour
 * section 7), without the prefix that all codes but the last share.
 */
export function brokenTimeRule(start: Instant, end: Instant, now: Date) {
  const moment = now.getTime();
  const earliest = instantAt(monthsFrom(now, -months));
  const latest = instantAt(monthsFrom(now, months));
  const isPast = isAfter(instantAt(moment - graceMilliseconds), start);
  const longestEnd = { ...start, milliseconds: start.milliseconds + maxHours * hourMilliseconds };
  if (isAfter(earliest, start)) return "MIN_STARTTIME_EXCEEDED";
  if (isAfter(start, latest)) return "MAX_STARTTIME_EXCEEDED";
  if (isAfter(start, end)) return "INVALID_END_TIME";
  if (isPast && isAfter(end, instantAt(moment))) return "INVALID_TIME_PERIOD";
  if (isAfter(end, longestEnd)) return "MAX_TIME_PERIOD_EXCEEDED";
  return isAfter(end, latest) ? "INVALID_ARGUMENT" : undefined;
}
