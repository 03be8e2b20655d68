import ngeohash from "ngeohash";
import { expect, test } from "vitest";
import { boundsOf, cellSize, ringOf } from "../../../console/data/cells.ts";

test.each(["u", "u05", "u05kq4x", "s00000000000", "zzzzzzz", "0000000"])(
  "boundsOf returns the edges of cell %s as ngeohash computes them",
  (geohash) => {
    const [south, west, north, east] = ngeohash.decode_bbox(geohash);

    const bounds = boundsOf(geohash);

    for (const [name, edge] of Object.entries({ south, west, north, east })) {
      expect(bounds[name as keyof typeof bounds]).toBeCloseTo(edge, 9);
    }
  },
);

test("ringOf returns a closed ring of four corners", () => {
  const ring = ringOf("u05kq4x");

  expect(ring).toHaveLength(5);
  expect(ring[0]).toEqual(ring[4]);
});

test("cellSize returns 153 m for precision 7 at the equator and half of that width at 60 degrees", () => {
  expect(cellSize(7, 0).width).toBeCloseTo(152.9, 0);
  expect(cellSize(7, 60).width).toBeCloseTo(76.4, 0);
  expect(cellSize(7, 60).height).toBeCloseTo(152.9, 0);
});
