import fc from "fast-check";
import { expect, test } from "vitest";
import { ticksFor } from "../../../console/answer/ticks.ts";

test("ticksFor labels a chart from zero to just above its greatest value", () => {
  expect(ticksFor(58_176)).toEqual([0, 20_000, 40_000, 60_000]);
  expect(ticksFor(9)).toEqual([0, 5, 10]);
});

test("ticksFor holds any range from zero between two and four steps", () => {
  fc.assert(
    fc.property(fc.nat(80_000), (max) => {
      const ticks = ticksFor(max);

      expect(ticks[0]).toBe(0);
      expect(ticks.at(-1)).toBeGreaterThanOrEqual(max);
      expect(ticks.length).toBeGreaterThan(1);
      expect(ticks.length).toBeLessThan(6);
    }),
  );
});
