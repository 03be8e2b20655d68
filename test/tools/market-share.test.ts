import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { scaledUp, thresholdFor } from "../../tools/import/density/market-share.ts";

const share = fc.double({ min: 0.001, max: 1, noNaN: true });
const counts = fc.double({ min: 0, max: 1e9, noNaN: true });
const range = fc
  .tuple(counts, counts, counts)
  .map((numbers) => numbers.sort((one, other) => one - other))
  .map(([least = 0, people = 0, greatest = 0]) => ({ least, people, greatest }));

describe("people counted by a share of the market", () => {
  test("are a range around their number, from at least those who were counted", () => {
    fc.assert(
      fc.property(range, share, (counted, share) => {
        const all = scaledUp(counted, share);
        expect(all.people).toBe(counted.people / share);
        expect(all.least).toBeGreaterThanOrEqual(counted.least);
        expect(all.least).toBeLessThanOrEqual(all.people);
        expect(all.greatest).toBeGreaterThanOrEqual(all.people);
      }),
    );
  });

  test("are what was counted if the share is everybody", () => {
    fc.assert(
      fc.property(range, (counted) => {
        expect(scaledUp(counted, 1)).toEqual(counted);
      }),
    );
  });

  test("are the less certain, the smaller the share and the wider the range was", () => {
    const [narrow, wide] = [
      { least: 99, people: 100, greatest: 101 },
      { least: 90, people: 100, greatest: 110 },
    ];
    const width = (counted: typeof narrow, share: number) => {
      const { least, people, greatest } = scaledUp(counted, share);
      return (greatest - least) / people;
    };
    expect(width(narrow, 0.2)).toBeGreaterThan(width(narrow, 0.4));
    expect(width(wide, 0.4)).toBeGreaterThan(width(narrow, 0.4));
  });

  test("are in the range as often as it says: 95 of 100 times", () => {
    // The number of people that makes each count possible, weighed with how probable the count is: exact, no draw.
    const [all, share] = [1_000, 0.31];
    let probability = (1 - share) ** all;
    let inside = 0;
    for (let people = 0; people <= all; people++) {
      const { least, greatest } = scaledUp({ least: people, people, greatest: people }, share);
      if (least <= all && all <= greatest) inside += probability;
      probability *= ((all - people) / (people + 1)) * (share / (1 - share));
    }
    expect(inside).toBeGreaterThan(0.94);
    expect(inside).toBeLessThan(0.96);
  });
});

describe("the threshold counts those who were counted", () => {
  test("however many cells they are from, though sums are rounded", () => {
    const parts = fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(parts, fc.integer({ min: 1, max: 500 }), share, (parts, least, share) => {
        const counted = parts.reduce((sum, people) => sum + people);
        const scaled = parts.reduce(
          (sum, people) => sum + scaledUp({ least: people, people, greatest: people }, share).people,
          0,
        );
        expect(scaled >= thresholdFor(least, share)).toBe(counted >= least);
      }),
      { examples: [[[2, 2, 2, 2, 2], 10, 0.31]] },
    );
  });

  test("and is what it is if everybody is counted", () => {
    expect(thresholdFor(10, 1)).toBe(10);
  });
});

test.each([0, -0.1, 1.01, Number.NaN])("%d is no share", (share) => {
  expect(() => scaledUp({ least: 1, people: 1, greatest: 1 }, share)).toThrow(RangeError);
  expect(() => thresholdFor(10, share)).toThrow(RangeError);
});
