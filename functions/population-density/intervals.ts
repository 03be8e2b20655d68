const hourMilliseconds = 3_600_000;

/** Whole hours in UTC, as hours since the epoch. */
export interface Hours {
  readonly first: number;
  readonly count: number;
}

/** The hours that cover a period; a period of no length on the hour is the hour that starts there. */
export function hoursOf(start: number, end: number): Hours {
  const first = Math.floor(start / hourMilliseconds);
  return { first, count: Math.max(1, Math.ceil(end / hourMilliseconds) - first) };
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

const months = 3;
const longestHours = 7 * 24;

/** A start up to this old counts as now: requests travel. */
const graceMilliseconds = 60_000;

/**
 * The first rule about time that a period breaks (specification 4.4 and 7.3, in the order of behaviour
 * section 7), without the prefix that all codes but the last share.
 *
 * @param start epoch milliseconds, like `end`.
 */
export function brokenTimeRule(start: number, end: number, now: Date) {
  const moment = now.getTime();
  if (start < monthsFrom(now, -months)) return "MIN_STARTTIME_EXCEEDED";
  if (start > monthsFrom(now, months)) return "MAX_STARTTIME_EXCEEDED";
  if (end < start) return "INVALID_END_TIME";
  if (start < moment - graceMilliseconds && end > moment) return "INVALID_TIME_PERIOD";
  if (end - start > longestHours * hourMilliseconds) return "MAX_TIME_PERIOD_EXCEEDED";
  return end > monthsFrom(now, months) ? "INVALID_ARGUMENT" : undefined;
}
