import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scaledUp } from "../../../functions/population-density/privacy/market-share.ts";

const share = fc.double({ min: 0.001, max: 1, noNaN: true });
const counts = fc.double({ min: 0, max: 1e9, noNaN: true });
const range = fc
  .tuple(counts, counts, counts)
  .map((numbers) => numbers.sort((one, other) => one - other))
  .map(([min = 0, people = 0, max = 0]) => ({ min, people, max }));

describe("people counted by a share of the market", () => {
  test("people counted by a share have a range around their estimate, from at least those counted", () => {
    fc.assert(
      fc.property(range, share, (counted, share) => {
        const all = scaledUp(counted, share);
        expect(all.people).toBe(counted.people / share);
        expect(all.min).toBeGreaterThanOrEqual(counted.min);
        expect(all.min).toBeLessThanOrEqual(all.people);
        expect(all.max).toBeGreaterThanOrEqual(all.people);
      }),
    );
  });

  test("a further deviation of the counted people widens the range at both ends, by itself divided by the share", () => {
    const counted = { min: 100, people: 100, max: 100 };
    const [narrow, wide] = [scaledUp(counted, 0.5), scaledUp(counted, 0.5, 10)];
    expect(wide.people).toBe(200);
    expect(wide.max - narrow.max).toBeCloseTo(20);
    expect(narrow.min - wide.min).toBeCloseTo(20);
  });

  test("people counted by a share of 1 stay as they were counted", () => {
    fc.assert(
      fc.property(range, (counted) => {
        expect(scaledUp(counted, 1)).toEqual(counted);
      }),
    );
  });

  test("the range of people counted by a share of 0.31 holds 1,000 people with a probability of 95 %", () => {
    // The number of people that makes each count possible, weighed with how probable the count is: exact, no draw.
    const [all, share] = [1_000, 0.31];
    let probability = (1 - share) ** all;
    let inside = 0;
    for (let people = 0; people <= all; people++) {
      const { min, max } = scaledUp({ min: people, people, max: people }, share);
      if (min <= all && all <= max) inside += probability;
      probability *= ((all - people) / (people + 1)) * (share / (1 - share));
    }
    expect(inside).toBeGreaterThan(0.94);
    expect(inside).toBeLessThan(0.96);
  });
});

test.each([0, -0.1, 1.01, Number.NaN])("a share of %d is refused", (share) => {
  expect(() => scaledUp({ min: 1, people: 1, max: 1 }, share)).toThrow(RangeError);
});
