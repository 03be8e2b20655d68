/** Formats times for display, in the time zone that people have chosen. */

const hourMilliseconds = 3_600_000;

interface Formats {
  readonly hour: Intl.DateTimeFormat;
  readonly day: Intl.DateTimeFormat;
  readonly weekday: Intl.DateTimeFormat;
  readonly name: Intl.DateTimeFormat;
  readonly parts: Intl.DateTimeFormat;
}

/** How far the service's clock is ahead of this machine's, which may be wrong by hours; in milliseconds. */
let serviceAhead = 0;

/** Takes over the service's clock from the `Date` of a response. */
export function useServiceClock(date: string | null): void {
  const ahead = Date.parse(date ?? "") - Date.now();
  if (!Number.isNaN(ahead)) serviceAhead = ahead;
}

/** The time by the service's clock, which judges periods. */
export function serviceTime(): Date {
  return new Date(Date.now() + serviceAhead);
}

/** The zone of the data, or the browser's where the service names none. */
let dataZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
let isUtc = false;
let dataFormats = formatsOf(dataZone);
let formats = dataFormats;

function formatsOf(timeZone: string): Formats {
  const format = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat("en-GB", { timeZone, hourCycle: "h23", ...options });
  return {
    hour: format({ hour: "2-digit", minute: "2-digit" }),
    day: format({ weekday: "short", day: "numeric", month: "short" }),
    weekday: format({ weekday: "long" }),
    name: format({ timeZoneName: "short", hour: "2-digit" }),
    parts: format({
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
    }),
  };
}

/** Formats times in the time zone of the data from now on, unless UTC is chosen. */
export function useDataZone(timeZone: string | undefined): void {
  dataZone = timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  dataFormats = formatsOf(dataZone);
  chooseUtc(isUtc);
}

/** Formats times in UTC, or in the zone of the data. */
export function chooseUtc(chosen: boolean): void {
  isUtc = chosen;
  formats = chosen ? formatsOf("UTC") : dataFormats;
}

/** Whether times are in UTC because somebody has chosen it. */
export function isUtcChosen(): boolean {
  return isUtc;
}

/** The zone of the data, such as `Europe/Paris`. */
export function nameOfDataZone(): string {
  return dataZone;
}

/**
 * The city of that zone, for which there is room: `Paris`. Zones at sea have none, and their names have the opposite sign:
 * `Etc/GMT-2` is `GMT+2`.
 */
export function placeOfDataZone(): string {
  const name = dataZone.split("/").at(-1)?.replaceAll("_", " ") ?? dataZone;
  return dataZone.startsWith("Etc/") ? name.replace(/[-+]/, (sign) => (sign === "+" ? "-" : "+")) : name;
}

/** `Sun, 22 Nov, 09:00–10:00`. */
export function hourLabel(start: Date, end: Date): string {
  return `${dayLabel(start)}, ${clockLabel(start)}–${clockLabel(end)}`;
}

/** `Sun, 22 Nov, 09:00`. */
export function timeLabel(moment: Date): string {
  return `${dayLabel(moment)}, ${clockLabel(moment)}`;
}

/** `09:00`. */
export function clockLabel(moment: Date): string {
  return formats.hour.format(moment);
}

/** `Sun, 22 Nov`. */
export function dayLabel(moment: Date): string {
  return formats.day.format(moment);
}

/** The hour of the day, from 0 to 23. */
export function hourOfDay(moment: Date): number {
  return hourIn(formats, moment);
}

/** The hour of the day in the zone of the data, from 0 to 23, also where times are shown in UTC. */
export function hourInDataZone(moment: Date): number {
  return hourIn(dataFormats, moment);
}

/** The day of the week, such as `Sunday`. */
export function weekdayOf(moment: Date): string {
  return formats.weekday.format(moment);
}

/** The date, `2026-11-22`. */
export function dateOf(moment: Date): string {
  const { year, month, day } = partsOf(moment);
  return `${year}-${month}-${day}`;
}

/** The time zone of formatted times at a moment, such as `CET`. */
export function zoneName(moment = new Date()): string {
  return formats.name.formatToParts(moment).find(({ type }) => type === "timeZoneName")?.value ?? dataZone;
}

/** The start of the hour some hours after the current one. */
export function hoursFromNow(hours: number, now = serviceTime()): Date {
  return new Date((Math.floor(now.getTime() / hourMilliseconds) + hours) * hourMilliseconds);
}

/** A period that is offered begins later than now by more than this, so that it can be looked at before it is asked for. */
const aheadMilliseconds = hourMilliseconds / 4;

/** The start of the first hour that is more than a quarter of an hour ahead. */
export function nextHour(now = serviceTime()): Date {
  return hoursFromNow(1, new Date(now.getTime() + aheadMilliseconds));
}

/** The end of a period of whole hours. */
export function afterHours(start: Date, hours: number): Date {
  return new Date(start.getTime() + hours * hourMilliseconds);
}

/** A time as the value of `<input type="datetime-local">`. */
export function inputValue(moment: Date): string {
  const { hour, minute } = partsOf(moment);
  return `${dateOf(moment)}T${hour}:${minute}`;
}

/** The time of a value of `<input type="datetime-local">`; undefined for an empty one. */
export function momentOf(value: string): Date | undefined {
  const asUtc = new Date(`${value}Z`).getTime();
  if (Number.isNaN(asUtc)) return undefined;
  const offsetAt = (time: number) => new Date(`${inputValue(new Date(time))}Z`).getTime() - time;
  // The offset before a change of the clocks may be another one than the offset after it.
  return new Date(asUtc - offsetAt(asUtc - offsetAt(asUtc)));
}

function hourIn({ parts }: Formats, moment: Date): number {
  return Number(parts.formatToParts(moment).find(({ type }) => type === "hour")?.value);
}

function partsOf(moment: Date): Readonly<Record<string, string>> {
  return Object.fromEntries(formats.parts.formatToParts(moment).map(({ type, value }) => [type, value]));
}
