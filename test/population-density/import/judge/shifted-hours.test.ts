import { expect, test } from "vitest";
import { judgeDay } from "../../../../functions/population-density/import/judge/judgement.ts";
import { shiftOf, shiftText } from "../../../../functions/population-density/import/judge/shifted-hours.ts";
import { defaultThresholds } from "../../../../functions/population-density/import/judge/thresholds.ts";
import { TypicalWeek } from "../../../../functions/population-density/tiles/typical-calendar.ts";
import { JudgedCity } from "./judged-city.ts";

const curve = (hour: number) => 1_000 + 800 * Math.sin((hour / 24) * 2 * Math.PI) ** 3;
const dayOf = (now: (hour: number) => number | undefined) =>
  Array.from({ length: 24 }, (_, hour) => {
    const people = now(hour);
    return people === undefined ? undefined : { now: people, usual: curve(hour) };
  });

test.each([
  ["is the usual one", 0, (hour: number) => curve(hour)],
  ["comes three hours late", 3, (hour: number) => curve(hour - 3)],
  ["comes five hours early, with a tenth more people", -5, (hour: number) => 1.1 * curve(hour + 5)],
  ["has half of the usual people", 0, (hour: number) => curve(hour) / 2],
  ["is late, but lacks seven hours", 0, (hour: number) => (hour < 17 ? curve(hour - 3) : undefined)],
])("a day that %s is shifted by %i hours", (_, shift, now) => {
  expect(shiftOf(dayOf(now))).toBe(shift);
});

test.each([
  [3, undefined, "the hours are shifted, 3 hours too late, as if local time had been written as Z"],
  [1, 1, "the hours are shifted, 1 hour too late, as if local time had been written as Z"],
  [-5, 19, "the hours are shifted, 5 hours too early, as if local time had been written as Z"],
  [3, 1, "the hours are shifted, 3 hours too late"],
])("a shift of %i hours where it is %s o'clock at midnight UTC is told as: %s", (shift, localHour, text) => {
  expect(shiftText(shift, localHour)).toBe(text);
});

test("the finding of unusual people says that a day with local time written as Z is shifted", () => {
  const city = new JudgedCity(1, 1);
  // In Nairobi it is three hours later than in UTC: what is written as 08:00 was there at 05:00.
  const figuresOf = (day: number, shift = 0) => city.count(day, { shift }).figures;
  const { figures, rows } = city.count(28, { shift: 21 });
  const timeZone = "Africa/Nairobi";

  const found = judgeDay(
    { date: "2026-11-30", figures: [figures], rows, hoursBefore: 0 },
    {
      earlier: ["23", "16", "09"].map((day, index) => ({
        date: `2026-11-${day}`,
        figures: [figuresOf(21 - 7 * index)],
      })),
      week: new TypicalWeek({ timeZone, holidays: [] }),
      timeZone,
      thresholds: defaultThresholds,
      now: Date.parse("2026-12-02T00:00:00Z"),
    },
  );

  expect(found.find(({ code }) => code === "PEOPLE_UNUSUAL")?.text).toMatch(
    /; the hours are shifted, 3 hours too late, as if local time had been written as Z$/,
  );
});
