/** Milliseconds per hour. */
export const hourMilliseconds = 3_600_000;

/** Milliseconds per UTC day; Unix time has no leap seconds. */
export const dayMilliseconds = 24 * hourMilliseconds;

/** Whether a text is `YYYY-MM-DD` and names an existing day. */
export function isCalendarDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  // `Date` reads a date that does not exist, such as 30 February, as a later one.
  return !Number.isNaN(date.getTime()) && dayOf(date) === text;
}

/** The day in UTC, `YYYY-MM-DD`; such days compare as text. */
export function dayOf(now: Date): string {
  return now.toISOString().slice(0, 10);
}

/** A point in time, with all digits of its fraction. */
export interface Instant {
  /** Since the epoch, truncated. */
  readonly milliseconds: number;
  /** The digits of the fraction after the third, without trailing zeros; empty for a whole millisecond. */
  readonly digits: string;
}

/** A whole millisecond as an instant. */
export function instantAt(milliseconds: number): Instant {
  return { milliseconds, digits: "" };
}

/** Whether an instant is later than another, by however little. */
export function isAfter(one: Instant, other: Instant): boolean {
  if (one.milliseconds !== other.milliseconds) return one.milliseconds > other.milliseconds;
  // Fraction digits without trailing zeros compare as text.
  return one.digits > other.digits;
}

/** RFC 3339: `T` and `Z` in either case, a zone, any number of fraction digits. */
const dateTime = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(\.\d+)?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

/**
 * Reads an RFC 3339 date-time with a zone.
 *
 * A leap second, second 60 at the end of June or December in UTC, is read as the first second of the next day.
 * @returns `undefined` for any other text, or a date or time that does not exist.
 */
export function instantOf(text: string): Instant | undefined {
  const [, year, month, day, hour, minute, second, fraction = "", sign, zoneHour = "0", zoneMinute = "0"] =
    dateTime.exec(text) ?? [];
  if (year === undefined || Number(hour) > 23 || Number(minute) > 59 || Number(second) > 60) return undefined;
  if (Number(zoneHour) > 23 || Number(zoneMinute) > 59) return undefined;
  const midnight = new Date(`${year}-${month}-${day}T00:00:00Z`);
  // `Date` reads a date that does not exist, such as 30 February, as a later one.
  if (Number.isNaN(midnight.getTime()) || midnight.getUTCDate() !== Number(day)) return undefined;
  const seconds = (Number(hour) * 60 + Number(minute)) * 60 + Number(second);
  const offsetMinutes = (sign === "-" ? -1 : 1) * (Number(zoneHour) * 60 + Number(zoneMinute));
  const wholeSecond = midnight.getTime() + seconds * 1_000 - offsetMinutes * 60_000;
  if (second === "60" && !followsLeapSecond(wholeSecond)) return undefined;
  return {
    milliseconds: wholeSecond + Number(fraction.slice(1, 4).padEnd(3, "0")),
    digits: withoutZerosAtEnd(fraction.slice(4)),
  };
}

/** A date-time, or the beginning of one: a date, its time of day, seconds and a zone. */
const partOfDateTime =
  /^\d{4}-\d{2}-\d{2}(?:[Tt ](\d{2}:\d{2})(:\d{2}(?:\.\d+)?)?([Zz]|[+-]\d{2}(?::?\d{2})?)?)?$/;

/** What a text lacks to be an RFC 3339 date-time, as `has no seconds (12:00:00)`; undefined if it is anything else. */
export function lackOf(text: string): string | undefined {
  const [all, time, seconds, zone] = partOfDateTime.exec(text) ?? [];
  if (all === undefined) return undefined;
  if (time === undefined) return "has no time of day (T12:00:00Z)";
  const lacks = [
    ...(seconds === undefined ? ["no seconds (12:00:00)"] : []),
    ...(zone === undefined ? ["no time zone (Z or +01:00)"] : []),
  ];
  return lacks.length === 0 ? undefined : `has ${lacks.join(" and ")}`;
}

/** Whether a leap second can come right before: at the start of 1 January or 1 July in UTC (RFC 3339, appendix D). */
function followsLeapSecond(milliseconds: number): boolean {
  return /-0[17]-01T00:00:00\.000Z$/.test(new Date(milliseconds).toISOString());
}

function withoutZerosAtEnd(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === "0") end--;
  return digits.slice(0, end);
}
