import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  cellOf,
  codeAt,
  geohashAt,
  gridOf,
  suffixesOf,
  tileSide,
} from "../../../functions/population-density/cover/geohash.ts";
import { geohashOf } from "./oracle.ts";

const precisions = Array.from({ length: 12 }, (_, index) => index + 1);

const cells = fc.integer({ min: 1, max: 12 }).chain((precision) => {
  const { rows, columns } = gridOf(precision);
  return fc.record({
    precision: fc.constant(precision),
    row: fc.integer({ min: 0, max: rows - 1 }),
    column: fc.integer({ min: 0, max: columns - 1 }),
  });
});

describe("the grid", () => {
  test.each(precisions)(
    "the grid of precision %i has 32 times the cells of the one before, with borders that are exact in binary",
    (precision) => {
      const { rows, columns, cellHeight, cellWidth } = gridOf(precision);
      expect(rows * columns).toBe(32 ** precision);
      expect(columns).toBe(precision % 2 === 0 ? rows : 2 * rows);
      for (const index of [1, 3, rows / 2 - 1, rows - 1]) {
        expect((index * cellHeight) / cellHeight).toBe(index);
        expect(BigInt(index * cellHeight * 2 ** 28)).toBe(BigInt(cellHeight * 2 ** 28) * BigInt(index));
      }
      expect([rows * cellHeight, columns * cellWidth]).toEqual([180, 360]);
    },
  );
});

describe("geohashes", () => {
  test("the geohash of a cell is that of the definition, and leads back to the cell", () => {
    fc.assert(
      fc.property(cells, ({ precision, row, column }) => {
        const geohash = geohashAt(row, column, precision);
        expect(geohash).toBe(geohashOf({ row, column }, precision));
        expect(cellOf(geohash)).toEqual({ row, column });
      }),
      { numRuns: 1_000 },
    );
  });

  test("a geohash is that of its tile and a suffix, and suffixes ascend with their codes", () => {
    fc.assert(
      fc.property(cells, ({ precision, row, column }) => {
        const tile = geohashAt(Math.floor(row / tileSide), Math.floor(column / tileSide), precision - 2);
        const code = codeAt(row % tileSide, column % tileSide, precision);
        expect(tile).toHaveLength(Math.max(0, precision - 2));
        expect(tile + suffixesOf(precision)[code]).toBe(geohashAt(row, column, precision));
      }),
    );
    for (const precision of [1, 2, 7]) {
      const suffixes = suffixesOf(precision);
      expect(suffixes).toEqual([...new Set(suffixes)].sort());
      expect(suffixes).toHaveLength(precision === 1 ? 32 : 1_024);
    }
  });

  test.each(["a", "u0i", "U0", "u-", " "])("cellOf throws for %j, which is no geohash", (text) => {
    expect(() => cellOf(text)).toThrow(RangeError);
  });
});
