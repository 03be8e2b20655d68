import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { chooseUtc, useDataZone } from "../../../console/base/time.ts";
import { clocksOf, dayNamed, firstShown, hourAt } from "../../../console/request/day-and-hour.ts";

/** The hours of 28 November from 02:00 on in Paris, a Saturday. */
const hours = Array.from({ length: 24 }, (_, hour) => ({
  start: new Date(Date.UTC(2026, 10, 28, 1 + hour)),
}));

beforeEach(() => useDataZone("Europe/Paris"));
afterEach(() => chooseUtc(false));

describe("the hour that is shown first", () => {
  const shownFor = (wanted?: Date) => hours[firstShown(hours, wanted)]?.start.toISOString();

  test.each(["data", "UTC"])("is the first 08:00 in the zone of the data, while times are in %s", (shown) => {
    chooseUtc(shown === "UTC");

    expect(shownFor()).toBe("2026-11-28T07:00:00.000Z");
  });

  test("is the one that is wanted, or the same hour of the day of another day", () => {
    expect(shownFor(new Date("2026-11-28T12:00Z"))).toBe("2026-11-28T12:00:00.000Z");
    expect(shownFor(new Date("2026-12-05T12:00Z"))).toBe("2026-11-28T12:00:00.000Z");
  });

  test("is the first of a period that has no such hour", () => {
    expect(firstShown(hours.slice(0, 3), undefined)).toBe(0);
  });
});

test("an hour is found by its day of the week and its hour of the day, in the zone that is shown", () => {
  expect(hourAt(hours, "Saturday", "09:00")).toBe(7);
  expect(hourAt(hours, "Sunday", "01:00")).toBe(23);
  expect(hourAt(hours, "Sunday", "09:00")).toBeUndefined();
  chooseUtc(true);
  expect(hourAt(hours, "Saturday", "09:00")).toBe(8);
});

test.each([
  ["Saturday", false, "2026-11-27T23:00:00.000Z", "2026-11-28T08:00:00.000Z"],
  ["Friday", false, "2026-12-03T23:00:00.000Z", "2026-12-04T08:00:00.000Z"],
  ["Friday", true, "2026-11-19T23:00:00.000Z", "2026-11-20T08:00:00.000Z"],
  ["Thursday", true, "2026-11-25T23:00:00.000Z", "2026-11-26T08:00:00.000Z"],
])(
  "on a Friday, %s at 09:00 that is over (%s) begins at midnight in the zone of the data",
  (weekday, isPast, from, hour) => {
    const now = new Date("2026-11-27T12:00Z");

    expect(dayNamed(weekday, "09:00", { isPast, now })).toEqual({
      from: new Date(from),
      hour: new Date(hour),
    });
  },
);

test("on a Friday at 13:10 in Paris, Friday 15:00 is today, and Friday 13:00 is next week", () => {
  const now = new Date("2026-11-27T12:10Z");
  const friday = (clock: string) => dayNamed("Friday", clock, { isPast: false, now });

  expect(friday("15:00")).toEqual({
    from: new Date("2026-11-27T13:00Z"),
    hour: new Date("2026-11-27T14:00Z"),
  });
  expect(friday("13:00")?.hour).toEqual(new Date("2026-12-04T12:00Z"));
});

describe("in a zone whose hours begin at a quarter to", () => {
  beforeEach(() => useDataZone("Asia/Kathmandu"));
  const start = new Date("2026-11-28T03:00Z");

  test("the field of hours offers 08:45, and finds the hour that begins then", () => {
    expect(clocksOf(start)[8]).toBe("08:45");
    expect(hourAt([{ start }], "Saturday", "08:45")).toBe(0);
  });

  test("a day that is asked for begins at 00:45, the first whole UTC hour after its midnight", () => {
    const now = new Date("2026-11-26T12:00Z");

    expect(dayNamed("Saturday", "08:45", { isPast: false, now })).toEqual({
      from: new Date("2026-11-27T19:00Z"),
      hour: start,
    });
  });
});
