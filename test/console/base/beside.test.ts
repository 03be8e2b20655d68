import fc from "fast-check";
import { expect, test } from "vitest";
import { beside, type Rectangle } from "../../../console/base/beside.ts";

const stage = { width: 732, height: 566 };
const card = { width: 300, height: 280 };
const legend = { left: 12, top: 204, width: 214, height: 350 };

test("beside puts a card to the right of a cell, or to its left where the right edge is too near", () => {
  const cell = { top: 300, width: 12, height: 18 };

  expect(beside({ ...cell, left: 380 }, card, stage)).toEqual({ left: 404, top: 169 });
  expect(beside({ ...cell, left: 600 }, card, stage)).toEqual({ left: 288, top: 169 });
});

test("beside puts a card above a cell that has the legend at its left and the edge at its right", () => {
  const cell = { left: 450, top: 400, width: 12, height: 18 };

  expect(beside(cell, card, stage, [legend])).toEqual({ left: 306, top: 108 });
});

test("beside covers neither the cell nor the legend and keeps the card in the stage, with the legend folded where need be", () => {
  const folded = { ...legend, top: 514, height: 40 };
  // Nobody chooses a cell below the legend.
  const cells = fc
    .record({
      left: fc.integer({ min: -50, max: 800 }),
      top: fc.integer({ min: -50, max: 600 }),
      width: fc.integer({ min: 1, max: 20 }),
      height: fc.integer({ min: 1, max: 20 }),
    })
    .filter(({ left, top, height }) => left > 226 || top + height < 502);
  const isApart = (one: Rectangle, other: Rectangle) =>
    one.left >= other.left + other.width ||
    one.left + one.width <= other.left ||
    one.top >= other.top + other.height ||
    one.top + one.height <= other.top;
  fc.assert(
    fc.property(cells, (cell) => {
      const corner = beside(cell, card, stage, [legend]) ?? beside(cell, card, stage, [folded]);

      const place = { left: 0, top: 0, ...corner, ...card };
      expect(corner).toBeDefined();
      expect(isApart(place, cell)).toBe(true);
      expect(isApart(place, folded)).toBe(true);
      expect(Math.min(place.left, place.top)).toBeGreaterThanOrEqual(0);
      expect(place.left + card.width).toBeLessThanOrEqual(stage.width);
      expect(place.top + card.height).toBeLessThanOrEqual(stage.height);
    }),
  );
});
