import { dayMilliseconds } from "../../shared/calendar.ts";

/** The day on which the examples of the declarations are, so that their times are about now. */
const examplesDay = Date.parse("2026-11-22T00:00:00Z");
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/**
 * A part of the OpenAPI document with every time in it moved by whole days, from the day of the examples to today: a
 * period that is asked for in an example can be asked for when the document is read.
 */
export function withTimesAbout<Part>(now: Date, part: Part): Part {
  const days = Math.floor((now.getTime() - examplesDay) / dayMilliseconds);
  return moved(part, days * dayMilliseconds) as Part;
}

function moved(part: unknown, milliseconds: number): unknown {
  if (typeof part === "string") return time.test(part) ? movedTime(part, milliseconds) : part;
  if (Array.isArray(part)) return part.map((one) => moved(one, milliseconds));
  if (typeof part !== "object" || part === null) return part;
  return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, moved(one, milliseconds)]));
}

/** The same time of another day, with its fraction as it is written. */
function movedTime(text: string, milliseconds: number): string {
  const date = new Date(Date.parse(`${text.slice(0, 10)}T00:00:00Z`) + milliseconds)
    .toISOString()
    .slice(0, 10);
  return `${date}${text.slice(10)}`;
}
