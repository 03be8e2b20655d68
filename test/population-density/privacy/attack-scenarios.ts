import { seeded } from "../../support/random.ts";
import type { ImportStep, Scenario } from "./attack.ts";

/** The whole numbers from 0 to below a number. */
function below(end: number): number[] {
  return Array.from({ length: end }, (_, count) => count);
}

function unknowns(count: number, values: readonly number[]): (readonly number[])[] {
  return Array.from({ length: count }, () => values);
}

/** Three cells of one parent, one next to it, and one further away. */
const fiveCells = { "000": 0, "001": 1, "002": 2, "010": 3, "100": 4 };

/** Three weeks, so that there are findings; the one in the middle leaves typical weekdays. */
export const judgedWeeks: Scenario = {
  name: "three judged weeks, one excluded",
  finding: "PEOPLE_UNUSUAL",
  threshold: 2,
  unknowns: unknowns(4, below(3)),
  steps: [
    { cells: { "00": 0, "01": 1 }, weeksAgo: 2 },
    { cells: { "00": 2, "01": 1 }, weeksAgo: 1 },
    { cells: { "00": 0, "01": 3 } },
    { isExcluded: true, weeksAgo: 1 },
  ],
};

/** Scenarios of some hundred worlds each, for every test run. */
export const smallScenarios: readonly Scenario[] = [
  {
    name: "cells at three levels",
    threshold: 2,
    unknowns: unknowns(5, below(3)),
    steps: [{ cells: fiveCells }],
  },
  {
    name: "file ranges of cells of one parent",
    threshold: 3,
    unknowns: unknowns(5, below(3)),
    steps: [
      {
        cells: { "00": 0, "01": 1, "02": 2, "03": 3, "04": 4 },
        rangeOf: (count) => [count / 2, count * 1.5 + 1],
      },
    ],
  },
  {
    name: "a market share",
    threshold: 3,
    unknowns: unknowns(5, below(3)),
    steps: [{ cells: fiveCells, marketShare: 0.2 }],
  },
  {
    name: "two nearly full cells",
    threshold: 5,
    unknowns: unknowns(2, below(6)),
    steps: [{ cells: { "00": 0, "01": 1 } }],
  },
  {
    name: "coverage grown by a cell and imported again",
    threshold: 3,
    unknowns: unknowns(5, below(3)),
    steps: [
      { cells: { "00": 0, "01": 1, "02": 2, "10": 3 } },
      { cells: { "00": 0, "01": 1, "02": 2, "10": 3, "03": 4 }, marketShare: 0.5 },
    ],
  },
  {
    name: "counts that are corrected",
    threshold: 2,
    unknowns: unknowns(8, below(2)),
    steps: [
      { cells: { "00": 0, "01": 1, "02": 2, "10": 3 } },
      { cells: { "00": 4, "01": 5, "02": 6, "10": 7 } },
    ],
  },
  {
    name: "regions imported one by one, the first again, then both together",
    threshold: 2,
    unknowns: unknowns(5, below(3)),
    steps: [
      { cells: { "00": 0, "01": 1, "02": 2 } },
      { cells: { "03": 3, "10": 4 } },
      { cells: { "00": 0, "01": 1, "02": 2 } },
      { cells: { "00": 0, "01": 1, "02": 2, "03": 3, "10": 4 } },
    ],
  },
  {
    name: "typical days in two regions",
    threshold: 2,
    unknowns: unknowns(5, below(3)),
    steps: [
      { cells: { "00": 0, "01": 1, "02": 2 }, isTypical: true },
      { cells: { "03": 3, "10": 4 }, isTypical: true, marketShare: 0.5 },
    ],
  },
  {
    name: "typical days made from two weeks",
    threshold: 2,
    unknowns: [below(2), below(2), below(3), below(2), below(2), below(3)],
    steps: [{ cells: { "00": 0, "01": 1, "02": 2 }, weeksAgo: 1 }, { cells: { "00": 3, "01": 4, "02": 5 } }],
  },
  {
    name: "typical days before, with and without an observed week",
    threshold: 2,
    unknowns: unknowns(5, below(3)),
    steps: [
      { cells: { "00": 0, "01": 1, "02": 2 }, isTypical: true },
      { cells: { "00": 3, "01": 4, "02": 2 } },
      { isExcluded: true, weeksAgo: 0 },
      { isExcluded: false, weeksAgo: 0 },
    ],
  },
];

/** Scenarios of more worlds each, for the bench. */
export const largeScenarios: readonly Scenario[] = [
  {
    name: "five cells, all counts up to published ones",
    threshold: 3,
    unknowns: unknowns(5, below(5)),
    steps: [{ cells: fiveCells, rangeOf: (count) => [count / 2, count * 2 + 1], marketShare: 0.3 }],
  },
  {
    name: "eleven cells of one parent",
    threshold: 2,
    unknowns: unknowns(11, below(2)),
    steps: [{ cells: Object.fromEntries(below(11).map((cell) => [`0${"0123456789b"[cell]}`, cell])) }],
  },
  {
    name: "a country in three regions",
    threshold: 2,
    unknowns: unknowns(7, below(3)),
    steps: [
      { cells: { "000": 0, "001": 1, "002": 2 } },
      { cells: { "003": 3, "010": 4 } },
      { cells: { "004": 5, "100": 6 } },
    ],
  },
];

const suffixes = ["0000", "0001", "0002", "0003", "0010", "0011", "0100", "0101", "1000"];

/**
 * Imports of random cells, again and again, in random order, some with ranges, some a share of all people.
 * @param seed the same one makes the same scenario.
 */
export function randomScenario(seed: number, maxWorlds: number): Scenario {
  const next = seeded(seed);
  const random = (limit: number) => (next() * 2 ** 32) % limit;
  const threshold = 2 + random(2);
  const counted = Math.floor(Math.log(maxWorlds) / Math.log(threshold + 1));
  const cells = suffixes.toSorted(() => random(3) - 1).slice(0, counted);
  const share = random(3) === 0 ? { marketShare: 0.2 + random(3) / 10 } : {};
  const ranges: Partial<ImportStep> = random(3) === 0 ? { rangeOf: (count) => [count / 2, count + 1] } : {};
  const steps = below(1 + random(4)).map((index): ImportStep => {
    const covered = cells.map((cell, unknown) => [cell, unknown] as const).filter(() => random(3) > 0);
    const all =
      index === 0 && covered.length < 2 ? cells.map((cell, unknown) => [cell, unknown] as const) : covered;
    return { cells: Object.fromEntries(all), ...share, ...ranges };
  });
  return {
    name: `random imports ${seed}`,
    threshold,
    unknowns: unknowns(counted, below(threshold + 1)),
    steps: steps.filter((step) => Object.keys(step.cells).length > 0),
  };
}
