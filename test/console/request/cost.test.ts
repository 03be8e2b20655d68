import { expect, test } from "vitest";
import { boxArea } from "../../../console/data/area.ts";
import { costOf } from "../../../console/request/cost.ts";

const now = new Date("2026-11-27T12:00:00Z");
const from = new Date("2026-11-27T13:00:00Z");
/** A box of some cells of precision 5, which are the tiles of precision 7. */
const boxOf = (columns: number, rows: number) =>
  boxArea({
    west: 0.001,
    south: 0.001,
    east: columns * (360 / 8192) - 0.001,
    north: rows * (180 / 4096) - 0.001,
  }) ?? expect.fail("no box");

test.each([
  ["one tile, an hour to come", [boxOf(1, 1)], 1, 1],
  ["50 tiles, an hour to come", [boxOf(10, 5)], 1, 6],
  ["50 tiles, today and tomorrow", [boxOf(10, 5)], 24, 11],
  ["three areas of one tile", [boxOf(1, 1), boxOf(1, 1), boxOf(1, 1)], 1, 3],
] as const)("costOf %s is what behaviour.md 9 charges", (_, areas, hours, cost) => {
  expect(costOf({ areas, from, hours, precision: 7 }, now)).toBe(cost);
});

test("costOf a past hour counts its day as well as its weekday: 50 tiles cost 11", () => {
  const past = new Date("2026-11-26T13:00:00Z");
  expect(costOf({ areas: [boxOf(10, 5)], from: past, hours: 1, precision: 7 }, now)).toBe(11);
});
