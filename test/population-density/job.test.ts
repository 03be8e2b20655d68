import { describe, expect, test } from "vitest";
import { failureInfo, isLate, waitAfter } from "../../functions/population-density/job.ts";

const schedule = [2, 10, 60, 21_600];

describe("the wait before the next attempt", () => {
  test.each([
    [1, 2],
    [2, 10],
    [3, 60],
    [4, 21_600],
  ])("after %i attempts is %i seconds, up to a fifth more or less, in whole seconds", (attempts, seconds) => {
    const waits = Array.from({ length: 101 }, (_, step) =>
      waitAfter(attempts, schedule, undefined, step / 100),
    );
    for (const wait of waits) {
      expect(wait).toBeGreaterThanOrEqual(0.8 * seconds);
      expect(wait).toBeLessThanOrEqual(1.2 * seconds);
      expect(Number.isInteger(wait)).toBe(true);
    }
    expect(waits[50]).toBe(seconds);
    expect(waits.toSorted((one, other) => (one ?? 0) - (other ?? 0))).toEqual(waits);
  });

  test("is spread, so that jobs which failed together do not come again together", () => {
    const waits = new Set(
      Array.from({ length: 100 }, (_, step) => waitAfter(3, schedule, undefined, step / 100)),
    );
    expect(waits.size).toBeGreaterThan(20);
    expect(waitAfter(4, schedule, undefined, 0)).toBe(17_280);
    expect(waitAfter(4, schedule, undefined, 1)).toBe(25_920);
  });

  test("is none after as many attempts as the schedule has waits and one more", () => {
    expect(waitAfter(5, schedule, undefined, 0.5)).toBeUndefined();
    expect(waitAfter(30, schedule, undefined, 0.5)).toBeUndefined();
    expect(waitAfter(1, [], undefined, 0.5)).toBeUndefined();
  });

  test("of no seconds is none at all, not the end", () => {
    expect(waitAfter(1, [0, 0], undefined, 1)).toBe(0);
  });

  test.each([2, 45, 3_600])("is what the sink asks for, exactly: %i", (asked) => {
    expect([0, 0.5, 1].map((random) => waitAfter(1, schedule, asked, random))).toEqual([asked, asked, asked]);
  });

  test("is not given by a sink that asks for one when there is no further attempt", () => {
    expect(waitAfter(5, schedule, 30, 0.5)).toBeUndefined();
  });
});

test("what a sink is told of a failure is a sentence without data", () => {
  expect(failureInfo).toMatch(/^[A-Z][A-Za-z .]+\.$/);
});

test("a job is late in the last hour before it is forgotten", () => {
  const expiry = new Date("2026-11-22T10:00:00Z");
  const expiresAt = expiry.getTime() / 1_000;
  const isLateBefore = (seconds: number) =>
    isLate({ expiresAt }, new Date(expiry.getTime() - 1_000 * seconds));
  expect([86_400, 3_601, 3_600, 3_599, 0].map(isLateBefore)).toEqual([false, false, false, true, true]);
});
