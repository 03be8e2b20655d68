import { hoursPerDay } from "./tile.ts";

/** Hours that one item has: a span of a day (docs/decisions/0009-caches-and-consistency.md says why so many). */
const hoursPerSpan = 4;

const firstHours = Array.from({ length: hoursPerDay / hoursPerSpan }, (_, span) => span * hoursPerSpan);

/** The span that has an hour, 0…23 UTC, by which it is stored. @param day `typicalDay` or `observedDay`. */
export function spanAt(day: string, hour: number): string {
  return `${day}#${String(hour - (hour % hoursPerSpan)).padStart(2, "0")}`;
}

/** All spans of a day, in their order. @param day `typicalDay` or `observedDay`. */
export function spansOf(day: string): string[] {
  return firstHours.map((hour) => spanAt(day, hour));
}

/** The same hours of another day. @param day `typicalDay` or `observedDay`. */
export function spanOn(day: string, span: string): string {
  return spanAt(day, partsOf(span).firstHour);
}

/** What one part of a day has in a span of a tile that several parts share. */
export function partSpan(span: string, part: string): string {
  return `part#${span}#${part}`;
}

/** A span, also of a part: what is before its first hour, that hour, what is behind. */
const parts = /^((?:part#)?(?:day|week)#[^#]+)#(\d\d)(.*)$/;

function partsOf(span: string) {
  const [, before, hour, after] = parts.exec(span) ?? [];
  if (before === undefined || after === undefined) throw new RangeError(`${span} is not a span`);
  return { before, firstHour: Number(hour), after };
}

/** The hours of a day that a span has; undefined instead of the others. */
export function hoursIn<Hour>(span: string, hours: readonly Hour[]): (Hour | undefined)[] {
  const { firstHour } = partsOf(span);
  return hours.map((hour, index) =>
    index >= firstHour && index < firstHour + hoursPerSpan ? hour : undefined,
  );
}

/** A span and the others of the same day, and of the same part. */
export function siblingsOf(span: string): string[] {
  const { before, after } = partsOf(span);
  return spansOf(before).map((sibling) => sibling + after);
}
