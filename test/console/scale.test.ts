import fc from "fast-check";
import { expect, test } from "vitest";
import { classCount, classOf, coloursOf, scaleOf } from "../../console/answer/scale.ts";

const densities = fc.array(fc.integer({ min: 0, max: 60_000 }), { minLength: 1, maxLength: 200 });

test("every density has a class with a colour, and more people never have a lower class", () => {
  fc.assert(
    fc.property(densities, fc.boolean(), (list, isDark) => {
      const scale = scaleOf(list);
      const colours = coloursOf(scale, isDark);
      expect(colours.length).toBe(scale.breaks.length + 1);
      expect(new Set(colours).size).toBe(colours.length);
      const classes = [...list].sort((one, other) => one - other).map((density) => classOf(density, scale));
      expect(classes).toEqual([...classes].sort((one, other) => one - other));
      for (const index of classes) expect(colours[index]).toMatch(/^#[\da-f]{6}$/);
    }),
  );
});

test("classes hold about as many densities each", () => {
  const list = Array.from({ length: 700 }, (_, index) => index * index);
  const scale = scaleOf(list);
  const sizes = Array.from(
    { length: classCount },
    (_, one) => list.filter((density) => classOf(density, scale) === one).length,
  );
  expect(scale.breaks).toHaveLength(classCount - 1);
  for (const size of sizes) expect(Math.abs(size - 100)).toBeLessThan(15);
});

test("no density has a scale of one class", () => {
  expect(scaleOf([])).toEqual({ breaks: [], min: 0, max: 0 });
  expect(coloursOf(scaleOf([5, 5, 5]), true)).toHaveLength(1);
});

test("many people are dark on a light map and light on a dark one", () => {
  const scale = scaleOf(Array.from({ length: 70 }, (_, index) => index * 100));
  expect(coloursOf(scale, false)).toEqual(coloursOf(scale, true).toReversed());
});
