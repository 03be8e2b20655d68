import { describe, expect, test } from "vitest";
import {
  type FoundFinding,
  judgeDay,
} from "../../../../functions/population-density/import/judge/judgement.ts";
import { defaultThresholds } from "../../../../functions/population-density/import/judge/thresholds.ts";
import { TypicalWeek, utcCalendar } from "../../../../functions/population-density/tiles/typical-calendar.ts";
import { dayMilliseconds, dayOf } from "../../../../shared/calendar.ts";
import { isLong } from "../../../support/sample.ts";
import { type CountedFigures, type Fault, JudgedCity, numbersFrom } from "./judged-city.ts";

const week = new TypicalWeek(utcCalendar);
const monday = Date.UTC(2026, 0, 5);
/** Weeks that are not judged, because the judgement compares with them. */
const weeksBefore = 4;
const judgedDays = 21;
const seeds = [1, 2, 3, 4];
const faultyDaysOfEachCity = 3;

/** Each with the share of its days that have a finding, and whether such a day is refused. */
const faults: readonly (Fault & { readonly found: number; readonly isRefused: boolean })[] = [
  {
    name: "half of the tiles are silent",
    people: (people, { tile }) => (tile < 8 ? 0 : people),
    found: 1,
    isRefused: true,
  },
  {
    name: "two tiles of 16 are silent for an hour",
    people: (people, { tile, hour }) => (hour === 9 && tile >= 5 && tile < 7 ? 0 : people),
    found: 1,
    isRefused: true,
  },
  {
    name: "every cell has half of its people",
    people: (people) => Math.round(people / 2),
    found: 1,
    isRefused: true,
  },
  {
    name: "every cell has half of its people for an hour",
    people: (people, { hour }) => (hour === 12 ? Math.round(people / 2) : people),
    found: 1,
    isRefused: true,
  },
  { name: "everybody is counted twice", people: (people) => 2 * people, found: 1, isRefused: true },
  { name: "hours are three too early", shift: 3, found: 1, isRefused: true },
  {
    name: "a Sunday is delivered again on another day",
    from: (day) => day - (day % 7) - 1,
    found: 0.5,
    isRefused: false,
  },
  {
    name: "three hours are missing",
    hasHour: (hour) => hour < 14 || hour > 16,
    found: 1,
    isRefused: false,
  },
  {
    name: "an hour ends after an eighth of its rows",
    people: (people, { tile, hour }) => (hour === 18 && tile > 1 ? undefined : people),
    found: 1,
    isRefused: true,
  },
  {
    name: "a tenth of the people are in one cell",
    people: (people, { tile, cell }) => (tile === 5 && cell === 0 ? 40_000 : Math.round(0.9 * people)),
    found: 1,
    isRefused: true,
  },
  { name: "every row has the same people", people: () => 50, found: 1, isRefused: true },
  {
    name: "cells below 40 people are left out",
    people: (people) => (people < 40 ? undefined : people),
    found: 1,
    isRefused: true,
  },
];

// To count the days of the cities takes half a minute of processor time.
describe.runIf(isLong)("the default thresholds", () => {
  test("refuse none of 84 good days, and warn of at most one in nine of a noisy network", () => {
    const good = cities().flatMap(({ days }) => judgedOf(days));
    const noisy = seeds.flatMap((seed) => judgedOf(daysOf(new JudgedCity(seed, 2))));

    expect(shareOf(good, isFound)).toBe(0);
    expect(shareOf(noisy, isRefused)).toBe(0);
    expect(shareOf(noisy, isFound)).toBeLessThanOrEqual(1 / 9);
  });

  test.each(faults)(
    "find a share of $found or more of the days on which $name (refused: $isRefused)",
    (fault) => {
      const found = cities().flatMap(({ seed, city, days }) => {
        const random = numbersFrom(seed + 100 * faults.indexOf(fault));
        return Array.from({ length: faultyDaysOfEachCity }, () => {
          const day = 7 * weeksBefore + Math.floor(random() * judgedDays);
          return judge(day, city.count(day, fault), days);
        });
      });

      expect(shareOf(found, isFound)).toBeGreaterThanOrEqual(fault.found);
      expect(shareOf(found, isRefused)).toBe(fault.isRefused ? 1 : 0);
    },
  );
});

function dateOf(day: number): string {
  return dayOf(new Date(monday + day * dayMilliseconds));
}

/** A day as it was counted. */
type Day = CountedFigures & { readonly date: string };

function daysOf(city: JudgedCity): Day[] {
  return Array.from({ length: 7 * weeksBefore + judgedDays }, (_, day) => ({
    date: dateOf(day),
    ...city.count(day),
  }));
}

interface CountedCity {
  readonly seed: number;
  readonly city: JudgedCity;
  readonly days: readonly Day[];
}

let made: readonly CountedCity[] | undefined;

/** The cities with their good days, which all tests share. */
function cities(): readonly CountedCity[] {
  made ??= seeds.map((seed) => {
    const city = new JudgedCity(seed, 1);
    return { seed, city, days: daysOf(city) };
  });
  return made;
}

/** What is found on each good day after the first weeks. */
function judgedOf(days: readonly Day[]): FoundFinding[][] {
  return days.slice(7 * weeksBefore).map((day, index) => judge(7 * weeksBefore + index, day, days));
}

function judge(day: number, { figures, rows }: CountedFigures, days: readonly Day[]): FoundFinding[] {
  const earlier = days.slice(0, day).map(({ date, figures }) => ({ date, figures: [figures] }));
  const yardstick = { earlier, week, timeZone: "UTC", thresholds: defaultThresholds, now: Date.now() };
  return judgeDay({ date: dateOf(day), figures: [figures], rows, hoursBefore: 0 }, yardstick);
}

function isFound(findings: readonly FoundFinding[]): boolean {
  return findings.length > 0;
}

function isRefused(findings: readonly FoundFinding[]): boolean {
  return findings.some(({ level }) => level === "critical");
}

function shareOf(
  days: readonly FoundFinding[][],
  holds: (findings: readonly FoundFinding[]) => boolean,
): number {
  return days.filter(holds).length / days.length;
}
