import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dayOf, isCalendarDate } from "../../shared/calendar.ts";

describe("dates", () => {
  test("every day of the calendar is one, and is read back as itself", () => {
    const dates = fc.date({ min: new Date("0000-01-01"), max: new Date("9999-12-31"), noInvalidDate: true });
    fc.assert(fc.property(dates, (date) => isCalendarDate(dayOf(date))));
  });

  test.each([
    "2023-02-29",
    "2024-02-30",
    "2100-02-29",
    "2024-04-31",
    "2024-13-01",
    "2024-00-10",
    "2024-01-00",
    "2024-1-1",
    "24-01-01",
    "2024-01-01T00:00:00Z",
    " 2024-01-01",
    "2024-01-01\n",
    "20240101",
    "+02024-01-01",
    "",
  ])("%j is none", (text) => {
    expect(isCalendarDate(text)).toBe(false);
  });

  test("today is the day in UTC", () => {
    expect(dayOf(new Date("2026-11-21T23:59:59.999Z"))).toBe("2026-11-21");
    expect(dayOf(new Date("2026-11-22T00:30:00+01:00"))).toBe("2026-11-21");
  });
});
