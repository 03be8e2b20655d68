/** Hours by their day of the week and their hour of the day. */
import { dateOf, hourInDataZone, hourOfDay, momentOf, weekdayOf } from "../base/time.ts";

/** The days of the week as `weekdayOf` names them. */
export const weekdays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/** The hours of the day: `09:00`. */
export const clocks = Array.from({ length: 24 }, (_, hour) => `${String(hour).padStart(2, "0")}:00`);

/** The hour that is shown of an answer of which nobody has chosen one. */
const firstClock = 8;

type Hours = readonly { readonly start: Date }[];

/** The index of the hour with a day of the week and an hour of the day; undefined if none has them. */
export function hourAt(hours: Hours, weekday: string, clock: string): number | undefined {
  const index = hours.findIndex(
    ({ start }) => weekdayOf(start) === weekday && clocks[hourOfDay(start)] === clock,
  );
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
 * The next day of a name that has not begun, or the last one that is over, with an hour of it.
 * @param isPast whether it is to be over
 */
export function dayNamed(
  weekday: string,
  clock: string,
  { isPast, now }: { readonly isPast: boolean; readonly now: Date },
): Day | undefined {
  const dayMilliseconds = 86_400_000;
  for (let days = 1; days <= 7; days++) {
    const date = dateOf(new Date(now.getTime() + (isPast ? -days : days) * dayMilliseconds));
    const from = momentOf(`${date}T00:00`);
    const hour = momentOf(`${date}T${clock}`);
    if (from !== undefined && hour !== undefined && weekdayOf(hour) === weekday) return { from, hour };
  }
  return undefined;
}
