import { beforeEach, expect, test } from "vitest";
import { daysOf, nightsOf, ticksOf } from "../../../console/answer/timeline-parts.ts";
import { inputValue, momentOf, placeOfDataZone, useDataZone, zoneName } from "../../../console/base/time.ts";

beforeEach(() => useDataZone("Europe/Paris"));

/** The starts of hours from Sunday, 22 November 2026, 21:00 in Paris. */
function starts(count: number): Date[] {
  return Array.from({ length: count }, (_, hour) => new Date(Date.UTC(2026, 10, 22, 20 + hour)));
}

test("timeline: 24 hours from 21:00 in Paris are three of Sunday and 21 of Monday, with a night of eight hours from 22:00", () => {
  expect(daysOf(starts(24))).toEqual([
    { from: 0, to: 3 },
    { from: 3, to: 24 },
  ]);
  expect(nightsOf(starts(24))).toEqual([{ from: 1, to: 9 }]);
});

test.each([
  [24, 900],
  [24, 320],
  [168, 900],
  [168, 320],
  [1, 200],
])(
  "timeline: labels of %i hours in %i pixels are days and hours that leave each other room",
  (hours, width) => {
    const ticks = ticksOf(starts(hours), width).sort((one, other) => one.hour - other.hour);

    expect(ticks.filter(({ isDay }) => isDay).length).toBeGreaterThan(0);
    for (const [index, { hour, isDay }] of ticks.entries()) {
      const next = ticks[index + 1];
      if (next === undefined) continue;
      expect(((next.hour - hour) * width) / hours).toBeGreaterThanOrEqual(isDay ? 40 : 42);
    }
  },
);

test("period: the value of a field is the clock of Paris, also in the hours around a change of the clocks", () => {
  for (const text of ["2026-07-01T12:00Z", "2026-10-24T23:00Z", "2026-10-25T02:00Z", "2027-03-28T01:00Z"]) {
    expect(momentOf(inputValue(new Date(text)))).toEqual(new Date(text));
  }
  expect(inputValue(new Date("2026-07-01T12:00Z"))).toBe("2026-07-01T14:00");
  expect(momentOf("")).toBeUndefined();
});

test.each([
  ["America/Argentina/Buenos_Aires", "Buenos Aires"],
  ["UTC", "UTC"],
])("timeline: the time zone %s is called %s", (zone, name) => {
  useDataZone(zone);
  expect(placeOfDataZone()).toBe(name);
});

test("timeline: the time zones Etc/GMT-2 and Etc/GMT+11 are called GMT+2 and GMT-11, as their hours are", () => {
  for (const zone of ["Etc/GMT-2", "Etc/GMT+11"]) {
    useDataZone(zone);
    expect(placeOfDataZone()).toBe(zoneName());
  }
});
