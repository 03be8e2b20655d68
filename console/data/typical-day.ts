import type { TypicalWeek } from "./capabilities.ts";

/**
 * The day of the typical week that an hour is taken from, by the time zone and the holidays of the data: `Sunday`, or
 * `Sunday (holiday)` for a holiday on another day of the week. Its formats are made once, which takes longer than their
 * use for all hours of a day.
 */
export function typicalDays({ timeZone, holidays }: TypicalWeek): (start: Date) => string {
  const days = new Intl.DateTimeFormat("en-GB", { timeZone, dateStyle: "full" });
  const dates = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short" });
  return (start) => {
    const weekday = days.formatToParts(start).find(({ type }) => type === "weekday")?.value ?? "day";
    const isHoliday = holidays.includes(dates.format(start));
    return isHoliday && weekday !== "Sunday" ? "Sunday (holiday)" : weekday;
  };
}
