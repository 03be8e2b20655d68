import type { TypicalWeek } from "./capabilities.ts";

/**
 * The day of the typical week that an hour is taken from, by the time zone and the holidays of the data: `Sunday`, or
 * `Sunday (holiday)` for a holiday on another day of the week.
 */
export function typicalDayOf(start: Date, { timeZone, holidays }: TypicalWeek): string {
  const parts = new Intl.DateTimeFormat("en-GB", { timeZone, dateStyle: "full" }).formatToParts(start);
  const weekday = parts.find(({ type }) => type === "weekday")?.value ?? "day";
  const date = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short" }).format(start);
  return holidays.includes(date) && weekday !== "Sunday" ? "Sunday (holiday)" : weekday;
}
