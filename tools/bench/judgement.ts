import { type FoundFinding, judgeDay } from "../../functions/population-density/import/judge/judgement.ts";
import { defaultThresholds } from "../../functions/population-density/import/judge/thresholds.ts";
import type { EarlierDay } from "../../functions/population-density/import/judge/usual.ts";
import { TypicalWeek, utcCalendar } from "../../functions/population-density/tiles/typical-calendar.ts";
import { dayMilliseconds, dayOf } from "../../shared/calendar.ts";
import { atLeast, atMost, type Bench, inUnit, type Row, shown, sized } from "./bench.ts";
import { type CountedFigures, type Fault, JudgedCity, numbersFrom } from "./judged-city.ts";

const cities = sized(4, 1);
/** Weeks before the first that is judged. */
const firstWeek = sized(4, 1);
const weeks = sized(7, 2);
/** The number of days judged for each city and fault. */
const faultyDays = sized(3, 1);
const minFound = 0.9;
const maxRefused = 0.01;

const week = new TypicalWeek(utcCalendar);
const monday = Date.UTC(2026, 0, 5);

/** Faults that occur, each of a whole day. */
const faults: readonly Fault[] = [
  { name: "half of the tiles are silent", people: (people, { tile }) => (tile < 8 ? 0 : people) },
  {
    name: "two tiles of 16 are silent for an hour",
    people: (people, { tile, hour }) => (hour === 9 && tile >= 5 && tile < 7 ? 0 : people),
  },
  { name: "every cell has half of its people", people: (people) => Math.round(people / 2) },
  {
    name: "every cell has half of its people for an hour",
    people: (people, { hour }) => (hour === 12 ? Math.round(people / 2) : people),
  },
  { name: "everybody is counted twice", people: (people) => 2 * people },
  { name: "hours are three too early", shift: 3 },
  { name: "a Sunday is delivered again on another day", from: (day) => day - (day % 7) - 1 },
  { name: "three hours are missing", hasHour: (hour) => hour < 14 || hour > 16 },
  {
    name: "an hour ends after an eighth of its rows",
    people: (people, { tile, hour }) => (hour === 18 && tile > 1 ? undefined : people),
  },
  {
    name: "a tenth of the people are in one cell",
    people: (people, { tile, cell }) => (tile === 5 && cell === 0 ? 40_000 : Math.round(0.9 * people)),
  },
  { name: "every row has the same people", people: () => 50 },
  { name: "cells below 40 people are left out", people: (people) => (people < 40 ? undefined : people) },
];

/** How much the judgement of imports finds, and which good days it refuses. */
export const judgement: Bench = {
  about: [
    `What the judgement of imports finds with its default thresholds: in ${cities} made-up cities of 16 tiles, after four`,
    "weeks. From day to day, hour to hour and tile to tile, numbers are off by 3 %, 1.5 % and 3 % (standard deviations), in",
    "noisy networks by twice as much. Each fault is of a whole day unless it says otherwise. A fault that is not refused is",
    "published with a warning.",
  ].join("\n"),
  run: async () => judgedRows(),
};

function dateOf(day: number): string {
  return dayOf(new Date(monday + day * dayMilliseconds));
}

/** How many days were judged, and how. */
class Judged {
  #days = 0;
  #refused = 0;
  #found = 0;

  add(findings: readonly FoundFinding[]): void {
    this.#days++;
    if (findings.some(({ level }) => level === "critical")) this.#refused++;
    if (findings.length > 0) this.#found++;
  }

  get days(): number {
    return this.#days;
  }

  get refused(): number {
    return this.#refused / this.#days;
  }

  get found(): number {
    return this.#found / this.#days;
  }
}

function judge(
  day: number,
  { figures, rows }: CountedFigures,
  earlier: readonly EarlierDay[],
): FoundFinding[] {
  const yardstick = { earlier, week, timeZone: "UTC", thresholds: defaultThresholds, now: Date.now() };
  return judgeDay({ date: dateOf(day), figures: [figures], rows, hoursBefore: 0 }, yardstick);
}

function judgedRows(): Row[] {
  const [good, noisy] = [new Judged(), new Judged()];
  const ofFaults = faults.map((fault) => ({ fault, judged: new Judged() }));
  for (let seed = 1; seed <= cities; seed++) {
    const city = new JudgedCity(seed, 1);
    judgeGoodDays(new JudgedCity(seed, 2), noisy);
    const earlier = judgeGoodDays(city, good);
    const random = numbersFrom(seed);
    for (const { fault, judged } of ofFaults) {
      for (let repeat = 0; repeat < faultyDays; repeat++) {
        const day = 7 * firstWeek + Math.floor(random() * 7 * (weeks - firstWeek));
        judged.add(judge(day, city.count(day, fault), earlier));
      }
    }
  }
  const all = ofFaults.map(({ judged }) => judged);
  const found = all.reduce((sum, judged) => sum + judged.found, 0) / all.length;
  return [
    atLeast("faulty days with a finding", 100 * found, 100 * minFound, inUnit("%")),
    atMost(`${good.days} good days: refused`, 100 * good.refused, 100 * maxRefused, inUnit("%", 1)),
    shown("good days: warned of", inUnit("%", 1)(100 * good.found)),
    shown(`${noisy.days} good days of noisy networks: refused`, inUnit("%", 1)(100 * noisy.refused)),
    shown("good days of noisy networks: warned of", inUnit("%", 1)(100 * noisy.found)),
    ...ofFaults.map(({ fault: { name }, judged }) =>
      shown(
        `${name}: found, refused`,
        `${inUnit("%")(100 * judged.found)}, ${inUnit("%")(100 * judged.refused)}`,
      ),
    ),
  ];
}

/** @returns all days of the city. */
function judgeGoodDays(city: JudgedCity, judged: Judged): EarlierDay[] {
  const earlier: EarlierDay[] = [];
  for (let day = 0; day < 7 * weeks; day++) {
    const counted = city.count(day);
    if (day >= 7 * firstWeek) judged.add(judge(day, counted, earlier));
    earlier.push({ date: dateOf(day), figures: [counted.figures] });
  }
  return earlier;
}
