import fc from "fast-check";
import { expect, test } from "vitest";
import { TypicalWeek } from "../../../functions/population-density/tiles/typical-calendar.ts";
import { hourMilliseconds } from "../../../shared/calendar.ts";

const hourAt = (text: string) => Date.parse(text) / hourMilliseconds;
const madrid = new TypicalWeek({ timeZone: "Europe/Madrid", holidays: ["2026-12-25"] });
const storedHour = (week: TypicalWeek, text: string) => {
  const { weekday, ofDay } = week.hourOf(hourAt(text));
  return [weekday, ofDay];
};

/** Weekday and time on the clocks of a zone. */
function clockAt(milliseconds: number, timeZone: string): string {
  return new Date(milliseconds).toLocaleTimeString("en-GB", {
    timeZone,
    weekday: "short",
    hour: "2-digit",
    minute: "2-digit",
  });
}

const zones = [
  "UTC",
  "Europe/Madrid",
  "Europe/Dublin",
  "America/St_Johns",
  "Australia/Sydney",
  "Asia/Kathmandu",
];
const years = fc.integer({ min: hourAt("2024-01-01T00:00:00Z"), max: hourAt("2030-01-01T00:00:00Z") });

test("an hour is answered from the typical hour of the same local weekday and time", () => {
  fc.assert(
    fc.property(fc.constantFrom(...zones), years, (timeZone, hour) => {
      const week = new TypicalWeek({ timeZone, holidays: [] });
      const { weekday, ofDay } = week.hourOf(hour);
      const reference = Date.UTC(2026, 0, 4 + weekday, ofDay);
      expect(clockAt(reference, timeZone)).toBe(clockAt(hour * hourMilliseconds, timeZone));
    }),
    { numRuns: 300 },
  );
});

test("a typical hour is made of exactly the hours that are answered from it", () => {
  const week = new TypicalWeek({ timeZone: "Europe/Madrid", holidays: ["2026-03-29", "2026-10-24"] });
  for (const start of ["2026-03-28T00:00:00Z", "2026-10-24T00:00:00Z"]) {
    const hours = Array.from({ length: 72 }, (_, index) => hourAt(start) + index);
    for (const hour of hours.slice(2, -2)) {
      const alike = hours.filter(
        (other) => JSON.stringify(week.hourOf(other)) === JSON.stringify(week.hourOf(hour)),
      );
      expect(week.hoursOf(week.hourOf(hour))).toEqual(alike);
    }
  }
});

test.each([
  ["before the clocks go forward", "2026-03-29T00:00:00Z", [7, 0]],
  ["after the clocks went forward", "2026-03-29T01:00:00Z", [7, 2]],
  ["in summer", "2026-07-06T21:00:00Z", [1, 22]],
  ["in summer, on the next local day", "2026-07-06T23:00:00Z", [2, 0]],
  ["before the clocks go back", "2026-10-25T00:00:00Z", [7, 1]],
  ["after the clocks went back", "2026-10-25T01:00:00Z", [7, 1]],
  ["in winter", "2026-11-23T12:00:00Z", [1, 12]],
  ["of the first hour of a holiday", "2026-12-24T23:00:00Z", [6, 23]],
  ["of the last hour of a holiday", "2026-12-25T22:00:00Z", [7, 22]],
  ["of the hour after a holiday", "2026-12-25T23:00:00Z", [5, 23]],
])("the typical hour %s in Madrid, %s, has weekday and hour %j", (_, text, expected) => {
  expect(storedHour(madrid, text)).toEqual(expected);
});

test("a typical hour has none that the clocks leave out, and both that they repeat", () => {
  expect(madrid.hoursOf({ weekday: 7, ofDay: 1, date: "2026-03-29" })).toEqual([]);
  expect(madrid.hoursOf({ weekday: 7, ofDay: 1, date: "2026-10-25" })).toEqual([
    hourAt("2026-10-25T00:00:00Z"),
    hourAt("2026-10-25T01:00:00Z"),
  ]);
});

test("days with another offset than the reference week are told apart", () => {
  const days = ["2026-01-05", "2026-03-29", "2026-07-06", "2026-10-25", "2026-11-23"];
  expect(days.map((day) => madrid.hasReferenceOffset(day))).toEqual([true, false, false, false, true]);
});
