import fc from "fast-check";
import { expect, test } from "vitest";
import { beside } from "../../../console/answer/beside.ts";

const stage = { width: 1_000, height: 700 };
const card = { width: 320, height: 360 };

test("beside puts a card to the right of a cell, or to its left where the right edge is too near", () => {
  const cell = { top: 300, width: 12, height: 18 };

  expect(beside({ ...cell, left: 400 }, card, stage)).toEqual({ left: 424, top: 129 });
  expect(beside({ ...cell, left: 800 }, card, stage)).toEqual({ left: 468, top: 129 });
});

test("beside covers no part of a cell that leaves room for the card, and keeps the card in the stage", () => {
  const cells = fc.record({
    left: fc.integer({ min: 0, max: 980 }),
    top: fc.integer({ min: 0, max: 680 }),
    width: fc.integer({ min: 1, max: 20 }),
    height: fc.integer({ min: 1, max: 20 }),
  });
  fc.assert(
    fc.property(cells, (cell) => {
      const { left, top } = beside(cell, card, stage);

      const isApart =
        left >= cell.left + cell.width ||
        left + card.width <= cell.left ||
        top >= cell.top + cell.height ||
        top + card.height <= cell.top;
      expect(isApart).toBe(true);
      expect(left).toBeGreaterThanOrEqual(0);
      expect(top).toBeGreaterThanOrEqual(0);
      expect(left + card.width).toBeLessThanOrEqual(stage.width);
      expect(top + card.height).toBeLessThanOrEqual(stage.height);
    }),
  );
});
