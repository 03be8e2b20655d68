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
  const move = (one: unknown) =>
    typeof one === "string" && time.test(one) ? movedTime(one, days * dayMilliseconds) : undefined;
  return replaced(part, move) as Part;
}

/** The middle of the area that examples of requests have. */
const examplesAt = { latitude: 45.7525, longitude: 4.8615 };

/** A part of the OpenAPI document with every point in it moved by as much as moves the middle of the examples to a place. */
export function withPointsAround<Part>(latitude: number, longitude: number, part: Part): Part {
  const round = (degrees: number) => Math.round(degrees * 1e6) / 1e6;
  const move = (one: unknown) => {
    if (typeof one !== "object" || one === null || !("latitude" in one && "longitude" in one))
      return undefined;
    if (typeof one.latitude !== "number" || typeof one.longitude !== "number") return undefined;
    const east = one.longitude - examplesAt.longitude + longitude;
    return {
      latitude: round(one.latitude - examplesAt.latitude + latitude),
      longitude: round(((east + 540) % 360) - 180),
    };
  };
  return replaced(part, move) as Part;
}

/** A part with everything in it replaced for which there is something else. */
function replaced(part: unknown, otherwise: (part: unknown) => unknown): unknown {
  const other = otherwise(part);
  if (other !== undefined) return other;
  if (Array.isArray(part)) return part.map((one) => replaced(one, otherwise));
  if (typeof part !== "object" || part === null) return part;
  return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, replaced(one, otherwise)]));
}

/** The same time of another day, with its fraction as it is written. */
function movedTime(text: string, milliseconds: number): string {
  const date = new Date(Date.parse(`${text.slice(0, 10)}T00:00:00Z`) + milliseconds)
    .toISOString()
    .slice(0, 10);
  return `${date}${text.slice(10)}`;
}
