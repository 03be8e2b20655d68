import fc from "fast-check";
import { expect, test } from "vitest";
import { ticksFor } from "../../../console/answer/ticks.ts";

test("ticksFor labels a chart closely around its range", () => {
  expect(ticksFor(45_888, 58_176)).toEqual([45_000, 50_000, 55_000, 60_000]);
  expect(ticksFor(0, 9)).toEqual([0, 5, 10]);
});

test("ticksFor holds the whole range between few ticks", () => {
  fc.assert(
    fc.property(fc.nat(80_000), fc.nat(80_000), (one, other) => {
      const [min, max] = [Math.min(one, other), Math.max(one, other)];

      const ticks = ticksFor(min, max);

      expect(ticks[0]).toBeLessThanOrEqual(min);
      expect(ticks.at(-1)).toBeGreaterThanOrEqual(max);
      expect(ticks.length).toBeGreaterThan(1);
      expect(ticks.length).toBeLessThan(7);
    }),
  );
});
