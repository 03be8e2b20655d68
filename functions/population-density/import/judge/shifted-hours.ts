/** Days whose hours are shifted: the people of each hour are those that another hour usually has. */
import { plural } from "../../../../shared/plural.ts";
import { hoursPerDay } from "../../tiles/tile.ts";

/** The people of an hour, and those that it usually has. */
interface HourOfPeople {
  readonly now: number;
  readonly usual: number;
}

/** Fewer hours do not show which shift it is. */
const leastHours = 18;

/** How much better a shift has to explain the people than none does. */
const timesBetter = 3;

/**
 * By how many hours the people of a day come later than usual: −11…12, and 0 if no shift explains them well.
 * @param hours of a UTC day; undefined for those that cannot be compared.
 */
export function shiftOf(hours: readonly (HourOfPeople | undefined)[]): number {
  if (hours.filter((hour) => hour !== undefined).length < leastHours) return 0;
  const shifts = Array.from({ length: hoursPerDay }, (_, index) => index - hoursPerDay / 2 + 1);
  const errors = new Map(shifts.map((shift) => [shift, errorOf(hours, shift)]));
  const error = (shift: number) => errors.get(shift) ?? Number.POSITIVE_INFINITY;
  const best = shifts.reduce((one, other) => (error(other) < error(one) ? other : one));
  return error(best) * timesBetter < error(0) ? best : 0;
}

/**
 * A shift in words.
 * @param localHour the local hour at 00:00 UTC of that day; undefined where no time zone is known.
 */
export function shiftText(shift: number, localHour: number | undefined): string {
  const hours = `${Math.abs(shift)} ${plural(Math.abs(shift), "hour", "hours")}`;
  const isLocal = localHour === undefined || localHour === (shift + hoursPerDay) % hoursPerDay;
  const direction = shift > 0 ? "late" : "early";
  return `the hours are shifted, ${hours} too ${direction}${isLocal ? ", as if local time had been written as Z" : ""}`;
}

/**
 * How much the curve of a day differs from the usual one with its hours moved in a circle, by the share of its people: a
 * day with fewer people in every hour has the same curve.
 */
function errorOf(hours: readonly (HourOfPeople | undefined)[], shift: number): number {
  const pairs = hours.flatMap((hour, at) => {
    const other = hours[(at - shift + hoursPerDay) % hoursPerDay];
    return hour === undefined || other === undefined ? [] : [{ now: hour.now, usual: other.usual }];
  });
  const people = pairs.reduce((sum, { now }) => sum + now, 0);
  const usualPeople = pairs.reduce((sum, { usual }) => sum + usual, 0);
  if (people === 0 || usualPeople === 0) return Number.POSITIVE_INFINITY;
  return pairs.reduce((sum, { now, usual }) => sum + Math.abs(now / people - usual / usualPeople), 0);
}
