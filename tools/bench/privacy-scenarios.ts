import type { Scenario } from "./privacy-attack.ts";

/** The whole numbers from 0 to below a number. */
function below(end: number): number[] {
  return Array.from({ length: end }, (_, count) => count);
}

function unknowns(count: number, values: readonly number[]): (readonly number[])[] {
  return Array.from({ length: count }, () => values);
}

/** Three cells of one parent, one beside it, and one further away. */
const fiveCells = { "0000": 0, "0001": 1, "0002": 2, "0010": 3, "0100": 4 };

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
        cells: { "0000": 0, "0001": 1, "0002": 2, "0003": 3, "0004": 4 },
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
    steps: [{ cells: { "0000": 0, "0001": 1 } }],
  },
  {
    name: "coverage grown by a cell and imported again",
    threshold: 3,
    unknowns: unknowns(5, below(3)),
    steps: [
      { cells: { "0000": 0, "0001": 1, "0002": 2, "0010": 3 } },
      { cells: { "0000": 0, "0001": 1, "0002": 2, "0010": 3, "0003": 4 } },
    ],
  },
  {
    name: "regions imported one by one, the first again, then both together",
    threshold: 2,
    unknowns: unknowns(5, below(3)),
    steps: [
      { cells: { "0000": 0, "0001": 1, "0002": 2 } },
      { cells: { "0003": 3, "0010": 4 } },
      { cells: { "0000": 0, "0001": 1, "0002": 2 } },
      { cells: { "0000": 0, "0001": 1, "0002": 2, "0003": 3, "0010": 4 } },
    ],
  },
  {
    name: "typical days in two regions",
    threshold: 2,
    unknowns: unknowns(5, below(3)),
    steps: [
      { cells: { "0000": 0, "0001": 1, "0002": 2 }, isTypical: true },
      { cells: { "0003": 3, "0010": 4 }, isTypical: true, marketShare: 0.5 },
    ],
  },
  {
    name: "typical days made from two weeks",
    threshold: 2,
    unknowns: [below(2), below(2), below(3), below(2), below(2), below(3)],
    steps: [
      { cells: { "0000": 0, "0001": 1, "0002": 2 }, weeksAgo: 1 },
      { cells: { "0000": 3, "0001": 4, "0002": 5 } },
    ],
  },
];
