import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Assignment, begunBy, isRecycled, overlapsIn } from "../../functions/number-recycling/rules.ts";
import { dayMilliseconds, dayOf } from "../../shared/calendar.ts";

const epoch = Date.UTC(2024, 1, 20);
const day = (index: number) => dayOf(new Date(epoch + index * dayMilliseconds));

/** Histories without overlaps: gaps and lengths in days, few subscribers, so that one signs again now and then. */
const histories = fc
  .array(
    fc.record({
      gap: fc.integer({ min: 0, max: 3 }),
      length: fc.integer({ min: 1, max: 5 }),
      subscriber: fc.constantFrom("a", "b", "c"),
      open: fc.boolean(),
    }),
    { maxLength: 6 },
  )
  .map((parts) => {
    let next = 0;
    return parts.map(({ gap, length, subscriber, open }, index): Assignment => {
      const from = next + gap;
      next = from + length;
      const isLast = index === parts.length - 1;
      return isLast && open
        ? { subscriber, from: day(from) }
        : { subscriber, from: day(from), to: day(next - 1) };
    });
  });

/** Asks day by day who holds the number, the way a person would with a calendar. */
function simulated(history: readonly Assignment[], specified: number, today: number): boolean {
  const holders = Array.from({ length: today + 1 }, (_, index) =>
    history
      .filter(({ from, to }) => from <= day(index) && (to === undefined || to >= day(index)))
      .map(({ subscriber }) => subscriber),
  ).map(([holder]) => holder);
  const then = holders[specified];
  const since = holders.slice(specified + 1).filter((holder) => holder !== undefined);
  return then === undefined || holders[today] === undefined || since.some((holder) => holder !== then);
}

describe("recycling", () => {
  test("a number is recycled exactly if a check of every day says so, for any history, date and today", () => {
    fc.assert(
      fc.property(histories, fc.nat({ max: 40 }), fc.nat({ max: 40 }), (history, one, other) => {
        const [specified, today] = [Math.min(one, other), Math.max(one, other)];
        const shuffled = [...history].reverse();
        const expected = simulated(history, specified, today);
        expect(isRecycled(begunBy(day(today), shuffled), day(specified), day(today))).toBe(expected);
      }),
      { numRuns: 2_000 },
    );
  });

  test("a number is not recycled by what is planned for tomorrow", () => {
    const planned = [
      { subscriber: "a", from: "2022-01-01", to: "2026-11-21" },
      { subscriber: "b", from: "2026-11-22" },
    ];
    expect(isRecycled(begunBy("2026-11-21", planned), "2023-01-01", "2026-11-21")).toBe(false);
    expect(isRecycled(begunBy("2026-11-22", planned), "2023-01-01", "2026-11-22")).toBe(true);
  });
});

describe("overlaps", () => {
  test("two assignments of a number overlap exactly when they share a day", () => {
    const lone = fc.record({
      subscriber: fc.constantFrom("a", "b"),
      start: fc.nat({ max: 12 }),
      length: fc.integer({ min: 0, max: 4 }),
    });
    fc.assert(
      fc.property(fc.array(lone, { maxLength: 4 }), (parts) => {
        const history = parts.map(({ subscriber, start, length }) => ({
          subscriber,
          from: day(start),
          to: day(start + length),
        }));
        const share = history.some((one, index) =>
          history.some((other, at) => at > index && one.from <= other.to && other.from <= one.to),
        );
        expect(overlapsIn(history).length > 0).toBe(share);
      }),
    );
  });

  test("of two overlapping assignments the open one comes first, with the later one", () => {
    const open = { subscriber: "a", from: "2020-01-01" };
    const later = { subscriber: "b", from: "2024-01-01", to: "2024-02-01" };
    expect(overlapsIn([later, open])).toEqual([[open, later]]);
  });
});
