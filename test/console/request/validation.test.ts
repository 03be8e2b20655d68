import { expect, test } from "vitest";
import { areaOf } from "../../../console/data/area.ts";
import { validate } from "../../../console/request/validation.ts";
import { coverageOfBoxes } from "../../support/coverage.ts";
import { triangle } from "./points.ts";

const now = new Date("2026-05-31T12:00:00Z");
const limits = {
  precisions: [5, 6, 7],
  limits: { synchronous: { slots: 2_000 }, asynchronous: { slots: 20_000 } },
  period: { maxHours: 168, monthsBack: 3, monthsAhead: 3 },
};
const area = areaOf(triangle);
const example = { name: "Centre of Lyon", area };
const query = { areas: [area], from: new Date("2026-06-01T00:00:00Z"), hours: 24, precision: 6 };
const found = (change: object) => validate({ ...query, ...change }, limits, [example], now);

test("validate finds none for a query within all limits", () => {
  expect(found({})).toBeUndefined();
});

test.each([
  ["no area", { areas: [] }, "no area", ["Use Centre of Lyon"]],
  ["no start", { from: undefined }, "no start", ["Use the next 24 hours"]],
  ["8 days", { hours: 192, precision: 5 }, "at most 168 hours", ["Use 168 hours"]],
  // 31 May less three months is the last of February.
  [
    "the 28th of February at 11:00",
    { from: new Date("2026-02-28T11:00:00Z") },
    "kept for 3 months",
    ["Use the last 24 hours"],
  ],
  [
    "a period that has begun and not ended",
    { from: new Date("2026-05-31T06:00:00Z"), hours: 12 },
    "either past or still to come",
    ["Use the next 12 hours", "Use the last 12 hours"],
  ],
  [
    "the end of August",
    { from: new Date("2026-08-31T00:00:00Z") },
    "forecast for 3 months",
    ["Use the next 24 hours"],
  ],
  ["too many cells", { precision: 7 }, "too large", ["Use precision 6", "Use 6 hours"]],
])("validate refuses %s, and each of its remedies mends it", (_, change, reason, labels) => {
  const problem = found(change);

  expect(problem?.reason).toContain(reason);
  expect(problem?.remedies.map(({ label }) => label)).toEqual(labels);
  for (const remedy of problem?.remedies ?? [])
    expect(found({ ...change, ...remedy.change })).toBeUndefined();
});

test.each([
  ["11:44:59", "12:00:00"],
  ["11:45:00", "13:00:00"],
])(
  "validate at %s offers the period from %s on: the first hour more than a quarter of an hour ahead",
  (time, start) => {
    const at = new Date(`2026-05-31T${time}Z`);
    const problem = validate({ ...query, from: undefined }, limits, [example], at);
    expect(problem?.remedies).toMatchObject([{ change: { from: new Date(`2026-05-31T${start}Z`) } }]);
  },
);

test("validate refuses areas of which nothing is covered, and takes several of which one is", () => {
  const coverage = coverageOfBoxes({ west: 4.8, south: 45.6, east: 4.9, north: 45.8 });
  const oslo = areaOf(triangle.map(({ latitude, longitude }) => ({ latitude: latitude + 14, longitude })));
  const problemOf = (areas: (typeof area)[]) =>
    validate({ ...query, areas }, { ...limits, ...(coverage && { coverage }) }, [example], now);

  expect(problemOf([oslo])).toMatchObject({ areas: "uncovered", reason: "Nothing of this is covered." });
  expect(problemOf([oslo, area])).toBeUndefined();
});
