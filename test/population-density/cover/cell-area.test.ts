import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cellArea, rowArea } from "../../../functions/population-density/cover/cell-area.ts";
import { cellOf, gridOf, suffixesOf } from "../../../functions/population-density/cover/geohash.ts";

/** Area of the WGS84 ellipsoid. */
const earthKm2 = 510_065_621.724;

const letters = suffixesOf(1);
const geohashes = fc
  .array(fc.constantFrom(...letters), { minLength: 1, maxLength: 12 })
  .map((characters) => characters.join(""));

/** The closed form, which needs the whole way from the equator to the pole to be exact. */
function areaBetween(south: number, north: number): number {
  const e2 = 0.00669437999014;
  const e = Math.sqrt(e2);
  const fromEquator = (latitude: number) => {
    const sine = Math.sin((latitude * Math.PI) / 180);
    return (sine / (1 - e2 * sine ** 2) + Math.atanh(e * sine) / e) / 2;
  };
  return 2 * Math.PI * 6_378.137 ** 2 * (1 - e2) * (fromEquator(north) - fromEquator(south));
}

describe("the area of a cell", () => {
  test.each([1, 2])("cellArea of all cells of precision %i adds up to the Earth", (precision) => {
    const sum = suffixesOf(precision).reduce((area, geohash) => area + cellArea(geohash), 0);
    expect(Math.abs(sum / earthKm2 - 1)).toBeLessThan(1e-9);
  });

  test("rowArea of all rows of a precision adds up to the Earth", () => {
    for (const precision of [3, 5, 6]) {
      const { rows, columns } = gridOf(precision);
      let sum = 0;
      for (let row = 0; row < rows; row++) sum += rowArea(row, precision) * columns;
      expect(Math.abs(sum / earthKm2 - 1)).toBeLessThan(1e-9);
    }
  });

  test("the area of a cell is the sum of its children's, up to the poles", () => {
    const corners = fc.constantFrom("0".repeat(11), "z".repeat(11), "b".repeat(11), "p".repeat(11));
    const parents = fc
      .tuple(fc.oneof(geohashes, corners), fc.integer({ min: 1, max: 11 }))
      .map(([geohash, length]) => geohash.slice(0, length));
    fc.assert(
      fc.property(parents, (parent) => {
        const children = letters.reduce((area, letter) => area + cellArea(parent + letter), 0);
        expect(Math.abs(children / cellArea(parent) - 1)).toBeLessThan(1e-10);
      }),
      { numRuns: 1_000 },
    );
  });

  test("the area of a cell agrees with the closed form as far as that is exact", () => {
    fc.assert(
      fc.property(geohashes, (geohash) => {
        const { cellHeight, columns } = gridOf(geohash.length);
        const south = cellOf(geohash).row * cellHeight - 90;
        const band = areaBetween(south, south + cellHeight);
        expect(Math.abs(cellArea(geohash) - band / columns)).toBeLessThan(
          (1e-14 * earthKm2) / columns + 1e-10 * cellArea(geohash),
        );
      }),
    );
  });

  test.each(["", "0123456789012", "a"])("cellArea throws for %j, which is no geohash", (geohash) => {
    expect(() => cellArea(geohash)).toThrow(RangeError);
  });
});
