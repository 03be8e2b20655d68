import fc from "fast-check";
import { expect, test } from "vitest";
import {
  classCount,
  classOf,
  coloursOf,
  differenceScaleOf,
  fixedScale,
  labelledClasses,
  scaleOf,
} from "../../../console/data/scale.ts";

const densities = fc.array(fc.integer({ min: 0, max: 60_000 }), { minLength: 1, maxLength: 200 });

test("coloursOf returns a colour of its own for each class of a scale", () => {
  fc.assert(
    fc.property(densities, fc.boolean(), (list, isDark) => {
      const scale = scaleOf(list);

      const colours = coloursOf(scale, isDark);

      expect(colours.length).toBe(scale.breaks.length + 1);
      expect(new Set(colours).size).toBe(colours.length);
    }),
  );
});

test("classOf returns a class with a colour, and never a lower class for more people", () => {
  fc.assert(
    fc.property(densities, fc.boolean(), (list, isDark) => {
      const scale = scaleOf(list);
      const ascending = [...list].sort((one, other) => one - other);

      const classes = ascending.map((density) => classOf(density, scale));

      expect(classes).toEqual([...classes].sort((one, other) => one - other));
      for (const index of classes) expect(coloursOf(scale, isDark)[index]).toMatch(/^#[\da-f]{6}$/);
    }),
  );
});

test("scaleOf gives each class about the same number of densities, between round numbers", () => {
  const list = Array.from({ length: 700 }, (_, index) => index * index);

  const scale = scaleOf(list);

  expect(scale.breaks).toHaveLength(classCount - 1);
  for (let index = 0; index < classCount; index++) {
    const size = list.filter((density) => classOf(density, scale) === index).length;
    expect(Math.abs(size - 100)).toBeLessThan(50);
  }
  for (const end of scale.breaks)
    expect(end / 10 ** Math.floor(Math.log10(end))).toBeOneOf([1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8]);
});

const ranges = fc.oneof(
  ...[3, 40, 400, 30_000].map((width) =>
    fc.array(fc.integer({ min: 5_000, max: 5_000 + width }), { minLength: 1, maxLength: 200 }),
  ),
);

test("every class of a legend has a density, and five different densities or more get at least five classes", () => {
  fc.assert(
    fc.property(ranges, (list) => {
      const scale = scaleOf(list);

      const used = new Set(list.map((density) => classOf(density, scale)));
      expect(used.size).toBe(scale.breaks.length + 1);
      expect(used.size).toBeGreaterThanOrEqual(Math.min(5, new Set(list).size));
      expect(used.size).toBeLessThanOrEqual(classCount);
    }),
  );
});

test("densities a few per cent apart get classes of equal width, and two of them get colours next to each other", () => {
  const list = Array.from({ length: 100 }, (_, index) => 5_000 + 3 * index);

  expect(scaleOf(list).breaks).toEqual([5_050, 5_100, 5_150, 5_200, 5_250]);
  const brightness = coloursOf(scaleOf([5_000, 5_100]), false).map((colour) =>
    Number.parseInt(colour.slice(3, 5), 16),
  );
  expect(Math.abs((brightness[0] ?? 0) - (brightness[1] ?? 0))).toBeLessThan(64);
});

test("scaleOf returns a scale without breaks for no densities", () => {
  expect(scaleOf([])).toEqual({ breaks: [] });
});

test("coloursOf returns a single colour where all densities are the same", () => {
  expect(coloursOf(scaleOf([5, 5, 5]), true)).toHaveLength(1);
});

test("coloursOf reverses the colours in the dark theme, so that the highest densities have most contrast", () => {
  const scale = scaleOf(Array.from({ length: 70 }, (_, index) => index * 100));

  expect(coloursOf(scale, false)).toEqual(coloursOf(scale, true).toReversed());
});

test("differences have as many classes below zero as above, and no change is in the middle one", () => {
  const scale = differenceScaleOf([-900, -400, -100, 0, 50, 300, 800, 5_000]);

  expect(scale.breaks).toEqual(scale.breaks.map((end) => -end).toReversed());
  expect(classOf(0, scale)).toBe(scale.breaks.length / 2);
  expect(coloursOf(scale, false)).toHaveLength(scale.breaks.length + 1);
});

test("a scale of one class knows the numbers that it was made for", () => {
  expect(scaleOf([5_230])).toEqual({ breaks: [], range: [5_230, 5_230] });
  expect(differenceScaleOf([0, 0])).toEqual({ breaks: [], isOfDifferences: true, range: [0, 0] });
});

test("of many classes every other bound has a label, and those of differences are the same below zero as above", () => {
  const changes = differenceScaleOf(Array.from({ length: 401 }, (_, index) => index - 200));

  const labels = labelledClasses(changes).map((index) => changes.breaks[index] ?? 0);

  expect(labels).toHaveLength(4);
  expect(labels).toEqual(labels.map((bound) => -bound).reverse());
  expect(labelledClasses(fixedScale)).toEqual([0, 2, 4, 6]);
  expect(labelledClasses({ breaks: [1, 2, 3] })).toEqual([0, 1, 2]);
});
