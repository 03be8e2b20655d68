import { expect, test } from "vitest";
import { Divisions } from "../../../../functions/population-density/import/publish/divisions.ts";
import { coverageOf } from "../../../../functions/population-density/privacy/parts.ts";

const covered = { precision: 7, coverage: new Map([["u05kq", coverageOf([0, 1, 2])]]) };
const partOf = (id: string, ...cells: number[]) => {
  return { id, precision: 7, coverage: new Map([["u05kq", coverageOf(cells)]]) };
};

test("days with the same parts are divided once, and others by their own", () => {
  const divisions = new Divisions();
  const first = divisions.of(covered, [partOf("a", 0, 1)]);
  expect(divisions.of(covered, [partOf("a", 0, 1)])).toBe(first);
  expect(divisions.of(covered, []).renewed).toEqual([]);
  expect(divisions.of(covered, [partOf("a", 0, 1)]).renewed).toMatchObject([{ id: "a" }]);
});

test("another coverage is divided by itself", () => {
  const divisions = new Divisions();
  const one = divisions.of(covered, []);
  const other = divisions.of({ ...covered, coverage: new Map([["u05kq", coverageOf([0])]]) }, []);
  expect(other.created?.id).not.toBe(one.created?.id);
});
