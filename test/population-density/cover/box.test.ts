import fc from "fast-check";
import ngeohash from "ngeohash";
import { expect, test } from "vitest";
import { type Box, boxAround, boxOf, isWithin } from "../../../functions/population-density/cover/box.ts";
import { suffixesOf } from "../../../functions/population-density/cover/geohash.ts";
import { coveredBox } from "../../../functions/population-density/import/covered-box.ts";
import { coverageOf } from "../../../functions/population-density/privacy/parts.ts";

const geohash = (length: number) =>
  fc.string({ unit: fc.constantFrom(...suffixesOf(1)), minLength: length, maxLength: length });
const anyGeohash = fc.integer({ min: 1, max: 9 }).chain(geohash);

const area = ({ west, south, east, north }: Box) => ((east - west + 360) % 360 || 360) * (north - south);

test("a cell has the box that ngeohash gives", () => {
  fc.assert(
    fc.property(anyGeohash, (cell) => {
      const { west, south, east, north } = boxOf(cell);
      expect([south, west, north, east]).toEqual(ngeohash.decode_bbox(cell));
    }),
  );
});

test("the box around two cells holds both, the short way around the globe, in either order", () => {
  fc.assert(
    fc.property(anyGeohash, anyGeohash, (one, other) => {
      const boxes = [boxOf(one), boxOf(other)] as const;
      const around = boxAround(...boxes);
      for (const box of boxes) expect(isWithin(box, around)).toBe(true);
      expect(area(boxAround(boxes[1], boxes[0]))).toBe(area(around));
      const width = (around.east - around.west + 360) % 360 || 360;
      // The longer way around the globe is never taken for cells that are less than half of it.
      if (boxes.every(({ west, east }) => east - west <= 45)) expect(width).toBeLessThanOrEqual(225);
    }),
  );
});

test("the box around Fiji and Samoa crosses the antimeridian", () => {
  const [fiji, samoa] = [boxOf("ruz"), boxOf("2h0")];
  const { west, east } = boxAround(fiji, samoa);
  expect([west, east]).toEqual([fiji.west, samoa.east]);
  expect(west).toBeGreaterThan(east);
});

test("the box of a coverage is that around all of its cells", () => {
  const cells = fc.array(fc.integer({ min: 0, max: 1_023 }), { minLength: 1, maxLength: 5 });
  const tiles = fc.dictionary(
    geohash(2).map((end) => `u0${end}`),
    cells,
    { minKeys: 1, maxKeys: 8 },
  );
  fc.assert(
    fc.property(tiles, (drawn) => {
      const listed = Object.entries(drawn).flatMap(([tile, codes]) =>
        codes.map((code) => boxOf(tile + suffixesOf(2)[code])),
      );
      const coverage = new Map(Object.entries(drawn).map(([tile, codes]) => [tile, coverageOf(codes)]));
      expect(coveredBox(coverage, 6)).toEqual({
        west: Math.min(...listed.map(({ west }) => west)),
        south: Math.min(...listed.map(({ south }) => south)),
        east: Math.max(...listed.map(({ east }) => east)),
        north: Math.max(...listed.map(({ north }) => north)),
      });
    }),
  );
});
