import fc from "fast-check";
import { expect, test } from "vitest";
import { boxOf } from "../../../functions/population-density/cover/box.ts";
import { suffixesOf } from "../../../functions/population-density/cover/geohash.ts";
import { mergedOutline, outlineAround } from "../../../functions/population-density/cover/outline.ts";
import { coveredOutline } from "../../../functions/population-density/import/covered-outline.ts";
import { coverageOf } from "../../../functions/population-density/privacy/parts.ts";

/** Cells of a tile, next to each other and apart, with corners that touch and holes. */
const cellSets = fc
  .uniqueArray(fc.integer({ min: 0, max: 127 }), { minLength: 1, maxLength: 128 })
  .map((codes) => new Set(codes.map((code) => `u05k${suffixesOf(2)[code]}`)));

/** Twice the area on the left of a ring, in square degrees. */
function areaOf(ring: readonly (readonly number[])[]): number {
  return ring.reduce((sum, [x = 0, y = 0], index) => {
    const [nextX = x, nextY = y] = ring[index + 1] ?? [];
    return sum + (x - 4) * (nextY - 45) - (nextX - 4) * (y - 45);
  }, 0);
}

test("the outline of cells has their area, outer rings counterclockwise and holes clockwise", () => {
  fc.assert(
    fc.property(cellSets, (cells) => {
      const { precision, coordinates } = outlineAround(cells);
      fc.pre(precision === 6);
      const { west, south, east, north } = boxOf("u05k00");
      let area = 0;
      for (const [index, ring] of coordinates.flatMap((rings) =>
        rings.map((each, at) => [at, each] as const),
      )) {
        expect(ring[0]).toEqual(ring.at(-1));
        expect(index === 0 ? areaOf(ring) : -areaOf(ring)).toBeGreaterThan(0);
        area += areaOf(ring) / 2;
      }
      expect(area / ((east - west) * (north - south))).toBeCloseTo(cells.size, 6);
    }),
  );
});

test("two outlines together are that of all their cells, and one with itself stays the same", () => {
  fc.assert(
    fc.property(cellSets, cellSets, (one, other) => {
      const [first, second] = [outlineAround(one), outlineAround(other)];
      fc.pre(first.precision === 6 && second.precision === 6);
      const sorted = (outline: typeof first) => ({
        ...outline,
        coordinates: outline.coordinates.map(String).sort(),
      });
      const all = outlineAround(new Set([...one, ...other].sort()));
      const merged = mergedOutline(first, second);
      expect(merged.shares).toEqual(all.shares);
      expect(areaIn(merged)).toBeCloseTo(areaIn(all), 9);
      expect(sorted(mergedOutline(first, first)).shares).toEqual(first.shares);
      expect(areaIn(mergedOutline(first, first))).toBeCloseTo(areaIn(first), 9);
    }),
  );
});

function areaIn({ coordinates }: ReturnType<typeof outlineAround>): number {
  return coordinates.flat().reduce((sum, ring) => sum + areaOf(ring), 0);
}

test("the outline of a chessboard of 512 cells has at most 300 points, and holds every cell", () => {
  const tile = coverageOf(
    Array.from({ length: 512 }, (_, index) => 2 * index + (Math.floor(index / 16) % 2)),
  );
  const outline = coveredOutline(new Map([["u05kq", tile]]), 7);

  expect(outline?.coordinates.flat(2).length).toBeLessThanOrEqual(300);
  expect(outline?.precision).toBeLessThan(7);
  const { west, south, east, north } = boxOf("u05kq");
  expect(outline?.coordinates[0]?.[0]).toContainEqual([west, south]);
  expect(outline?.coordinates[0]?.[0]).toContainEqual([east, north]);
});
