/** Hours by their day of the week and their hour of the day. */
import { clockLabel, dateOf, hourInDataZone, momentOf, nextHour, weekdayOf } from "../base/time.ts";

/** The days of the week as `weekdayOf` names them. */
export const weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/** The hours of a day as they are named at a moment: `09:00`, `08:45` in a zone whose hours begin at a quarter to. */
export function clocksOf(moment: Date): string[] {
  const minutes = clockLabel(
    new Date(Math.floor(moment.getTime() / hourMilliseconds) * hourMilliseconds),
  ).slice(2);
  return Array.from({ length: 24 }, (_, hour) => `${String(hour).padStart(2, "0")}${minutes}`);
}

const hourMilliseconds = 3_600_000;

/** The hour that is shown of an answer of which nobody has chosen one. */
const firstClock = 8;

type Hours = readonly { readonly start: Date }[];

/** The index of the hour with a day of the week and an hour of the day; undefined if none has them. */
export function hourAt(hours: Hours, weekday: string, clock: string): number | undefined {
  const index = hours.findIndex(({ start }) => weekdayOf(start) === weekday && clockLabel(start) === clock);
  return index < 0 ? undefined : index;
}

/**
 * The index of the hour of an answer that is shown first: the one that is wanted, otherwise the first with the same hour
 * of the day, or the first 08:00 in the time zone of the data where none is wanted.
 */
export function firstShown(hours: Hours, wanted: Date | undefined): number {
  const same = hours.findIndex(({ start }) => start.getTime() === wanted?.getTime());
  if (same >= 0) return same;
  const clock = wanted === undefined ? firstClock : hourInDataZone(wanted);
  return Math.max(
    0,
    hours.findIndex(({ start }) => hourInDataZone(start) === clock),
  );
}

/** A day and the hour in it that is wanted. */
interface Day {
  readonly from: Date;
  readonly hour: Date;
}

/**
 * The next day of a name, with an hour of it that has not begun, or the last one that is over. Of today, a day has the
 * hours that are still to come.
 * @param isPast whether it is to be over
 */
export function dayNamed(
  weekday: string,
  clock: string,
  { isPast, now }: { readonly isPast: boolean; readonly now: Date },
): Day | undefined {
  const dayMilliseconds = 86_400_000;
  for (let days = isPast ? 1 : 0; days <= 7; days++) {
    const date = dateOf(new Date(now.getTime() + (isPast ? -days : days) * dayMilliseconds));
    const midnight = momentOf(`${date}T00:00`);
    const hour = momentOf(`${date}T${clock}`);
    if (midnight === undefined || hour === undefined || weekdayOf(hour) !== weekday) continue;
    // Counts are by hours in UTC.
    const first = new Date(Math.ceil(midnight.getTime() / hourMilliseconds) * hourMilliseconds);
    const from = days === 0 ? nextHour(now) : first;
    if (hour >= from) return { from, hour };
  }
  return undefined;
}
