import { describe, expect, test } from "vitest";
import { suffixesOf } from "../../../functions/population-density/cover/geohash.ts";
import {
  coverageOf,
  decodeCoverage,
  divide,
  encodeCoverage,
  overlap,
} from "../../../functions/population-density/privacy/parts.ts";
import {
  isSuppressed,
  publishedSum,
  suppressedBound,
} from "../../../functions/population-density/privacy/suppression.ts";

describe("of a group is published", () => {
  test.each([
    ["five cells of 5", 25, 5, { min: 20, max: 30 }, false],
    ["five nearly full cells", 45, 5, { min: 30, max: 50 }, false],
    ["three cells with fractions of people", 29.7, 3, { min: 10, max: 30 }, false],
    ["three nearly full cells", 27, 3, { min: 10, max: 30 }, false],
    ["three cells with few", 9, 3, { min: 0, max: 10 }, true],
    ["two full cells", 18, 2, { min: 0, max: 20 }, true],
    ["two empty cells", 0, 2, { min: 0, max: 20 }, true],
    ["one cell", 7, 1, { min: 0, max: 10 }, true],
  ])("the published interval of %s, %d people in %i, is %j", (_, people, cells, sum, isAlone) => {
    const group = { people, bound: cells, maxBound: 1 };
    expect(publishedSum(group, 10)).toEqual(sum);
    expect(isSuppressed(group, 10)).toBe(isAlone);
  });

  test("a group of 36 people is published as 10 to 40, as without its largest cell it could have 18", () => {
    // In whole numbers: two cells that may have 18 together, and two that may have 9 each: without the two there are 18.
    const group = { people: 36, bound: 4, maxBound: 2 };
    expect(publishedSum(group, 10)).toEqual({ min: 10, max: 40 });
  });
});

test.each([
  ["one cell", 1, 1, 1],
  ["two cells", 2, 1, 2],
  ["three cells", 3, 1, 1],
  ["32 cells", 32, 1, 1],
  ["three pairs of cells", 6, 2, 1],
  ["a pair of cells", 2, 2, 2],
])(
  "a suppressed cell of %s can have the people of %i cells of which one has %i: bound %i",
  (_, all, max, bound) => {
    expect(suppressedBound({ bound: all, maxBound: max }, 10)).toBe(bound);
  },
);

describe("the parts of a day", () => {
  const coverage = (cells: Readonly<Record<string, readonly number[]>>) =>
    new Map(Object.entries(cells).map(([geohash, each]) => [geohash, coverageOf(each)]));
  const known = { id: "known", precision: 7, coverage: coverage({ u05kq: [0, 1, 900], u05kr: [5] }) };

  test.each([
    ["covered whole", { u05kq: [0, 1, 2, 900], u05kr: [5] }, ["known"], { u05kq: [2] }, {}],
    ["covered exactly", { u05kq: [0, 1, 900], u05kr: [5] }, ["known"], undefined, {}],
    ["covered in part", { u05kq: [0, 1, 2, 900] }, [], { u05kq: [2] }, { u05kq: [0, 1, 900] }],
    ["not covered", { u05kq: [3], u05ks: [0] }, [], { u05kq: [3], u05ks: [0] }, {}],
  ])(
    "an import renews, creates and keeps parts when the known part is %s",
    (_, covered, renewed, created, kept) => {
      const division = divide(coverage(covered), 7, [known]);
      expect(division.renewed.map(({ id }) => id)).toEqual(renewed);
      expect(division.created?.coverage).toEqual(created && coverage(created));
      expect(division.kept).toEqual(coverage(kept));
      const parts = division.partsIn({ geohash: "u05kq" }).map(({ part }) => part);
      const isCreatedHere = created !== undefined && "u05kq" in created;
      expect(parts).toEqual([...renewed, ...(isCreatedHere ? [division.created?.id] : [])]);
    },
  );

  test("the id of a part depends on its cells alone", () => {
    const idOf = (cells: Record<string, number[]>, precision = 7) =>
      divide(coverage(cells), precision, []).created?.id;
    expect(idOf({ u05kq: [1], u05kr: [2] })).toBe(idOf({ u05kr: [2], u05kq: [1] }));
    expect(idOf({ u05kq: [1] })).not.toBe(idOf({ u05kq: [2] }));
    expect(idOf({ u05kq: [1] })).not.toBe(idOf({ u05kq: [1] }, 6));
  });

  test("a coverage is read as it was written, and refused with 7 bytes", () => {
    expect(decodeCoverage(encodeCoverage(known.coverage), 7)).toEqual(known.coverage);
    const whole = new Map([["", coverageOf([0, 1_023])]]);
    expect(decodeCoverage(encodeCoverage(whole), 2)).toEqual(whole);
    expect(() => decodeCoverage(new Uint8Array(7), 7)).toThrow("wrong length");
  });

  test.each([
    [7, { u05kq: [0] }, true],
    [7, { u05kq: [2] }, false],
    [8, { u05kq0: [0] }, true],
    [8, { u05kq0: [64] }, false],
    [9, { u05kq00: [5] }, true],
    [9, { u05kq02: [5] }, false],
    [6, { u05k: [suffixesOf(2).indexOf("q0")] }, true],
    [6, { u05k: [suffixesOf(2).indexOf("q1")] }, false],
    [4, { u0: [suffixesOf(2).indexOf("5k")] }, true],
    [4, { u0: [suffixesOf(2).indexOf("5m")] }, false],
  ])("a part shares area with cells of precision %i, %j: %s", (precision, cells, isShared) => {
    const other = { precision, coverage: coverage(cells) };
    expect(overlap(known, other)).toBe(isShared);
    expect(overlap(other, known)).toBe(isShared);
  });
});
