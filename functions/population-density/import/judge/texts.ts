import type { TypicalWeek } from "../../tiles/typical-calendar.ts";

/** People, rounded to three digits: `1.02 M`, or `1.71–1.79 M` for a range. */
export function peopleText(people: number, to?: number): string {
  const largest = to ?? people;
  const [divisor, unit] = largest >= 1e6 ? [1e6, " M"] : largest >= 1e4 ? [1e3, " k"] : [1, ""];
  const shown = (value: number) => {
    const scaled = value / divisor;
    return divisor === 1
      ? countText(Math.round(scaled))
      : scaled.toFixed(scaled >= 100 ? 0 : scaled >= 10 ? 1 : 2);
  };
  return `${to === undefined ? shown(people) : `${shown(people)}–${shown(to)}`}${unit}`;
}

/** A whole number with separators: `36,517`. */
export function countText(count: number): string {
  return count.toLocaleString("en");
}

/** A share in whole percent: `41 %`; small ones with a digit more. */
export function percentText(share: number): string {
  const percent = 100 * share;
  return `${percent > 0 && percent < 1 ? percent.toFixed(1) : Math.round(percent)} %`;
}

const numberWords = ["no", "one", "two", "three", "four"];
const weekdays = ["", "Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays"];

/** The weeks that an hour was compared with: `on the last four Mondays`. */
export function lastWeeks(count: number, weekday: number): string {
  return `on the last ${numberWords[count] ?? count} ${weekdays[weekday]}`;
}

/** Local times of hours, `08:00–10:00, 15:00–24:00`. @param hours counted from 1970, ascending. */
export function rangesText(hours: readonly number[], week: TypicalWeek): string {
  const ranges: { from: number; to: number }[] = [];
  for (const hour of hours) {
    const last = ranges.at(-1);
    if (last?.to === hour) last.to = hour + 1;
    else ranges.push({ from: hour, to: hour + 1 });
  }
  const endOf = (hour: number) => week.localTimeOf(hour).time.replace("00:00", "24:00");
  return ranges.map(({ from, to }) => `${week.localTimeOf(from).time}–${endOf(to)}`).join(", ");
}
