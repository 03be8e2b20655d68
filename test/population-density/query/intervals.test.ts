import { describe, expect, test } from "vitest";
import {
  brokenTimeRule,
  hoursOf,
  monthsFrom,
} from "../../../functions/population-density/query/intervals.ts";
import { type Instant, instantAt, instantOf } from "../../../shared/calendar.ts";

const at = (text: string) => Date.parse(text);
const read = (text: string) => instantOf(text) ?? instantAt(Number.NaN);

describe("the hours of a period", () => {
  test.each([
    ["the specification's example", "2026-11-21T11:25:00Z", "2026-11-21T12:45:00Z", "2026-11-21T11", 2],
    ["a moment on the hour", "2026-11-21T11:00:00Z", "2026-11-21T11:00:00Z", "2026-11-21T11", 1],
    ["a moment within an hour", "2026-11-21T11:59:59Z", "2026-11-21T11:59:59Z", "2026-11-21T11", 1],
    ["a tenth of a millisecond", "2026-11-21T11:00:00Z", "2026-11-21T12:00:00.0001Z", "2026-11-21T11", 2],
    [
      "all digits",
      "2026-11-21T11:59:59.9999Z",
      `2026-11-21T12:00:00.${"0".repeat(99)}1Z`,
      "2026-11-21T11",
      2,
    ],
    [
      "a moment just past the hour",
      "2026-11-21T11:00:00.0001Z",
      "2026-11-21T11:00:00.0001Z",
      "2026-11-21T11",
      1,
    ],
  ])("the hours of a period are those of %s", (_, start, end, first, count) => {
    expect(hoursOf(read(start), read(end))).toEqual({ first: at(`${first}:00:00Z`) / 3_600_000, count });
  });
});

describe("three months from a moment", () => {
  test.each([
    ["2026-11-21T10:20:30Z", 3, "2027-02-21T10:20:30Z"],
    ["2026-11-30T10:20:30Z", 3, "2027-02-28T10:20:30Z"],
    ["2027-11-30T10:20:30Z", 3, "2028-02-29T10:20:30Z"],
    ["2026-05-31T00:00:00Z", -3, "2026-02-28T00:00:00Z"],
    ["2026-01-31T23:59:59Z", -3, "2025-10-31T23:59:59Z"],
  ])("%s and %d months are %s", (moment, months, expected) => {
    expect(monthsFrom(new Date(moment), months)).toBe(at(expected));
  });
});

describe("the rules about time", () => {
  const now = new Date("2026-11-21T10:20:30Z");
  const minutes = (count: number) => now.getTime() + count * 60_000;
  const earliest = at("2026-08-21T10:20:30Z");
  const latest = at("2027-02-21T10:20:30Z");
  const day = 86_400_000;

  test.each([
    ["the earliest start", earliest, earliest + day, undefined],
    ["the latest start and end", latest, latest, undefined],
    ["an end before the start", minutes(60), minutes(59), "INVALID_END_TIME"],
    ["an end before a start that is too early", earliest - 1, earliest - 2, "MIN_STARTTIME_EXCEEDED"],
    ["a period over now", minutes(-2), minutes(1), "INVALID_TIME_PERIOD"],
    ["a start that has just passed", minutes(-1), minutes(60), undefined],
    ["a period that ends now", minutes(-60), minutes(0), undefined],
    ["seven days", minutes(0), minutes(0) + 7 * day, undefined],
    ["too long and over now", minutes(-60), minutes(-60) + 8 * day, "INVALID_TIME_PERIOD"],
  ])("the rule that a period breaks is found, or none: %s", (_, start, end, broken) => {
    expect(brokenTimeRule(instantAt(start), instantAt(end), now)).toBe(broken);
  });

  const justAfter = (milliseconds: number): Instant => ({ milliseconds, digits: "0000001" });

  test.each([
    ["a start just too early", justAfter(earliest - 1), instantAt(earliest), "MIN_STARTTIME_EXCEEDED"],
    ["a start just after the earliest", justAfter(earliest), justAfter(earliest), undefined],
    ["a start just after the latest", justAfter(latest), justAfter(latest), "MAX_STARTTIME_EXCEEDED"],
    ["an end just before the start", justAfter(minutes(60)), instantAt(minutes(60)), "INVALID_END_TIME"],
    ["an end just after the start", instantAt(minutes(60)), justAfter(minutes(60)), undefined],
    ["an end just after now", instantAt(minutes(-60)), justAfter(minutes(0)), "INVALID_TIME_PERIOD"],
    ["a start just too long ago", justAfter(minutes(-1) - 1), instantAt(minutes(60)), "INVALID_TIME_PERIOD"],
    ["a start just not too long ago", justAfter(minutes(-1)), instantAt(minutes(60)), undefined],
    [
      "just more than seven days",
      instantAt(minutes(0)),
      justAfter(minutes(0) + 7 * day),
      "MAX_TIME_PERIOD_EXCEEDED",
    ],
    ["seven days with digits", justAfter(minutes(0)), justAfter(minutes(0) + 7 * day), undefined],
    ["just less than seven days", justAfter(minutes(0)), instantAt(minutes(0) + 7 * day), undefined],
    ["an end just too late", instantAt(latest - day), justAfter(latest), "INVALID_ARGUMENT"],
  ])("all digits of a time count: %s", (_, start, end, broken) => {
    expect(brokenTimeRule(start, end, now)).toBe(broken);
  });
});
