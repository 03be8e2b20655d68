import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  dayOf,
  hourMilliseconds,
  instantAt,
  instantOf,
  isAfter,
  isCalendarDate,
} from "../../shared/calendar.ts";
import { words } from "../support/words.ts";

describe("dates", () => {
  test("every day of the calendar is a date", () => {
    const dates = fc.date({ min: new Date("0000-01-01"), max: new Date("9999-12-31"), noInvalidDate: true });
    fc.assert(fc.property(dates, (date) => isCalendarDate(dayOf(date))));
  });

  test.each([
    " 2024-01-01",
    "2024-01-01\n",
    "",
    ...words(`
      2023-02-29 2024-02-30 2100-02-29 2024-04-31 2024-13-01 2024-00-10 2024-01-00 2024-1-1 24-01-01
      2024-01-01T00:00:00Z 20240101 +02024-01-01
    `),
  ])("%j is no date of the calendar", (text) => {
    expect(isCalendarDate(text)).toBe(false);
  });

  test("the day of a time is that in UTC", () => {
    expect(dayOf(new Date("2026-11-21T23:59:59.999Z"))).toBe("2026-11-21");
    expect(dayOf(new Date("2026-11-22T00:30:00+01:00"))).toBe("2026-11-21");
  });
});

describe("a date-time", () => {
  test("a date-time is read as its instant in any zone with any number of fraction digits", () => {
    const moments = fc.date({
      min: new Date("0001-01-02"),
      max: new Date("9998-12-30"),
      noInvalidDate: true,
    });
    const offsets = fc.integer({ min: -23 * 60 - 59, max: 23 * 60 + 59 });
    fc.assert(
      fc.property(moments, offsets, fc.stringMatching(/^[0-9]{0,30}$/), (moment, offset, digits) => {
        const local = new Date(moment.getTime() + offset * 60_000).toISOString();
        const two = (value: number) => String(value).padStart(2, "0");
        const [sign, size] = [offset < 0 ? "-" : "+", Math.abs(offset)];
        const zone = `${sign}${two(Math.floor(size / 60))}:${two(size % 60)}`;
        expect(instantOf(`${local.slice(0, -1)}${digits}${zone}`)).toEqual({
          milliseconds: moment.getTime(),
          digits: digits.replace(/0+$/, ""),
        });
      }),
    );
  });

  test.each([
    ["2026-11-21T10:00:00Z", "2026-11-21T10:00:00.000Z"],
    ["2026-11-21t10:00:00z", "2026-11-21T10:00:00.000Z"],
    ["2026-11-21T10:00:00.9999Z", "2026-11-21T10:00:00.999Z", "9"],
    ["2026-11-21T10:00:00.99900009990Z", "2026-11-21T10:00:00.999Z", "0000999"],
    ["2026-11-21T10:00:00.9Z", "2026-11-21T10:00:00.900Z"],
    ["2024-02-29T23:59:59-00:00", "2024-02-29T23:59:59.000Z"],
    ["2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"],
    ["2017-01-01T01:59:60+02:00", "2017-01-01T00:00:00.000Z"],
    ["2015-06-30T23:59:60.5Z", "2015-07-01T00:00:00.500Z"],
    ["2015-06-30T18:29:60-05:30", "2015-07-01T00:00:00.000Z"],
    ["2015-07-01T23:58:60+23:59", "2015-07-01T00:00:00.000Z"],
  ])("the date-time %s is read as %s", (text, moment, digits = "") => {
    expect(instantOf(text)).toEqual({ milliseconds: Date.parse(moment), digits });
  });

  test("of the minutes before each hour of a year, second 60 is read in two, in any zone: at the end of June and December", () => {
    const hours = Array.from(
      { length: 365 * 24 },
      (_, hour) => Date.parse("2026-01-01T01:00:00Z") + hour * hourMilliseconds,
    );
    for (const [zone, offset] of [
      ["Z", 0],
      ["+05:30", 330],
      ["-03:30", -210],
      ["+12:45", 765],
      ["-23:59", -1_439],
    ] as const) {
      const local = (hour: number) => new Date(hour + (offset - 1) * 60_000).toISOString().slice(0, 16);
      const read = hours.filter((hour) => instantOf(`${local(hour)}:60${zone}`) !== undefined);
      expect(read.map((hour) => new Date(hour).toISOString())).toEqual([
        "2026-07-01T00:00:00.000Z",
        "2027-01-01T00:00:00.000Z",
      ]);
    }
  });

  test("two instants are compared with all their fraction digits", () => {
    const fractions = fc.stringMatching(/^[0-9]{1,12}$/);
    const moment = (second: number, fraction: string) =>
      instantOf(`2026-11-21T10:00:0${second}.${fraction}Z`) ?? instantAt(Number.NaN);
    const exact = (second: number, fraction: string) => BigInt(`${second}${fraction.padEnd(12, "0")}`);
    const seconds = fc.integer({ min: 1, max: 2 });
    fc.assert(
      fc.property(seconds, fractions, seconds, fractions, (second, fraction, otherSecond, otherFraction) => {
        const [one, other] = [moment(second, fraction), moment(otherSecond, otherFraction)];
        expect(isAfter(one, other)).toBe(exact(second, fraction) > exact(otherSecond, otherFraction));
      }),
      { numRuns: 1_000 },
    );
    expect(isAfter(moment(1, "0000001"), moment(1, "00000010"))).toBe(false);
  });

  test.each([
    "2026-11-21 10:00:00Z",
    "2026-11-21T10:00:00Z\n",
    "",
    ...words(`
      2026-11-21T10:00:00 2026-11-21T10:00Z 2026-11-21T10:00:00+0100 2026-11-21T10:00:00+01
      2026-11-21T24:00:00Z 2026-11-21T10:60:00Z 2026-11-21T10:00:61Z 2026-02-30T10:00:00Z
      2025-02-29T10:00:00Z 2026-13-01T10:00:00Z 2026-00-01T10:00:00Z 2026-11-00T10:00:00Z
      2026-11-21T10:00:00.Z 2026-11-21T10:00:00+24:00 2026-11-21T10:00:00+01:60 +02026-11-21T10:00:00Z
      2026-11-21T10:00:60Z 2026-11-30T23:59:60Z 2026-12-31T23:58:60Z 2026-12-31T23:59:60+01:00 2026-06-30T22:59:60Z
      2026-11-21 now
    `),
  ])("%j is no date-time", (text) => {
    expect(instantOf(text)).toBeUndefined();
  });
});
