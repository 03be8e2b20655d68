/** Formats times for display, in the browser's time zone. */

const hourMilliseconds = 3_600_000;

const hour = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short" });
const zone = new Intl.DateTimeFormat("en-GB", { timeZoneName: "short", hour: "2-digit" });

/** `Sun, 22 Nov, 09:00–10:00`. */
export function hourLabel(start: Date, end: Date): string {
  return `${day.format(start)}, ${hour.format(start)}–${hour.format(end)}`;
}

/** `Sun, 22 Nov, 09:00`. */
export function timeLabel(moment: Date): string {
  return `${day.format(moment)}, ${hour.format(moment)}`;
}

/** `09:00`. */
export function clockLabel(moment: Date): string {
  return hour.format(moment);
}

/** `Sun, 22 Nov`. */
export function dayLabel(moment: Date): string {
  return day.format(moment);
}

/** The browser's time zone, such as `CET`. */
export function zoneName(): string {
  return zone.formatToParts(new Date()).find(({ type }) => type === "timeZoneName")?.value ?? "local time";
}

/** The start of the hour some hours after the current one. */
export function hoursFromNow(hours: number, now = new Date()): Date {
  return new Date((Math.floor(now.getTime() / hourMilliseconds) + hours) * hourMilliseconds);
}

/** The end of a period of whole hours. */
export function afterHours(start: Date, hours: number): Date {
  return new Date(start.getTime() + hours * hourMilliseconds);
}

/** A time as the value of `<input type="datetime-local">`. */
export function inputValue(moment: Date): string {
  const local = new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}
