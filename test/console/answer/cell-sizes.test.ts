import { expect, test } from "vitest";
import { groundOf, sizesOf as sizesOfCells } from "../../../console/answer/cell-sizes.ts";
import { type Area, type Box, boxArea } from "../../../console/data/area.ts";
import { boundsOf, cellArea } from "../../../console/data/cells.ts";
import { coverOf, geohashesOf } from "../../../functions/population-density/cover/cover.ts";
import { polygonOf } from "../../../functions/population-density/cover/polygon.ts";

function areaIn(box: Box): Area {
  const area = boxArea(box);
  if (area === undefined) throw new Error("the box is none");
  return area;
}

function cellsOf({ boundary }: Area, precision: number): string[] {
  const polygon = polygonOf(boundary);
  return polygon === undefined ? [] : geohashesOf(coverOf(polygon, precision), precision);
}

/** The sizes of cells that are covered as a whole, or so much of each. */
const sizesOf = (
  geohashes: readonly string[],
  areas: readonly Area[],
  coveredShares = geohashes.map(() => 1),
) => sizesOfCells({ geohashes, coveredShares }, areas);

const sum = (sizes: readonly number[]) => sizes.reduce((total, size) => total + size, 0);

const slanted: Area = {
  areaType: "POLYGON",
  boundary: [
    { latitude: 45.74, longitude: 4.81 },
    { latitude: 45.77, longitude: 4.88 },
    { latitude: 45.78, longitude: 4.83 },
    { latitude: 45.755, longitude: 4.84 },
  ],
};

test("half of a cell is in an area that ends in its middle, and all of its neighbour that the area goes around", () => {
  const { west, south, east, north } = boundsOf("u05kq");
  const middle = (west + east) / 2;
  const area = areaIn({ west: middle, south: south - 0.01, east: east + 0.1, north: north + 0.01 });

  const { whole, inside } = sizesOf(["u05kq", "u05kr"], [area]);

  expect(whole).toEqual([cellArea("u05kq"), cellArea("u05kr")]);
  expect(inside[0]).toBeCloseTo(cellArea("u05kq") / 2, 4);
  expect(inside[1]).toBeCloseTo(cellArea("u05kr"), 4);
});

test("the cells of an area have the same ground in it at every precision", () => {
  const insideAt = (precision: number) => sum(sizesOf(cellsOf(slanted, precision), [slanted]).inside);

  const finest = insideAt(7);

  for (const precision of [2, 3, 4, 5, 6]) expect(insideAt(precision) / finest).toBeCloseTo(1, 4);
});

test("groundOf returns the km² that cells have in two areas, and counts where these overlap once", () => {
  const part = areaIn({ west: 4.82, south: 45.74, east: 4.84, north: 45.77 });
  const cells = [...new Set([slanted, part].flatMap((area) => cellsOf(area, 7)))];

  expect(groundOf([slanted, part])).toBeCloseTo(sum(sizesOf(cells, [slanted, part]).inside), 3);
  expect(groundOf([slanted, slanted])).toBeCloseTo(groundOf([slanted]), 9);
});

test("sizesOf counts ground that is in several overlapping areas once", () => {
  const cells = cellsOf(slanted, 5);
  const part = areaIn({ west: 4.82, south: 45.74, east: 4.84, north: 45.75 });
  const around = areaIn({ west: 4.8, south: 45.7, east: 4.9, north: 45.8 });

  const together = (...areas: readonly Area[]) => sizesOf(cells, areas).inside;

  expect(together(slanted, slanted)).toEqual(together(slanted));
  expect(sum(together(around, part, slanted))).toBeCloseTo(sum(together(around)), 9);
});

test("an area across the antimeridian has cells with ground in it on both sides", () => {
  const area = areaIn({ west: 179.5, south: -17, east: -179, north: -16.5 });

  const { whole, inside } = sizesOf(cellsOf(area, 4), [area]);

  const [width, height] = [1.5 * 111.32 * Math.cos((16.75 * Math.PI) / 180), 0.5 * 110.6];
  expect(sum(inside) / (width * height)).toBeCloseTo(1, 2);
  for (const [index, size] of inside.entries()) {
    expect(size).toBeGreaterThan(0);
    expect(size).toBeLessThanOrEqual((whole[index] ?? 0) * 1.000001);
  }
});
