import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  isHeldBackByOwn,
  limitReached,
  type Permit,
  permitsOf,
  shortened,
} from "../../../functions/population-density/delivery/permit-rules.ts";
import { hashed } from "../../../shared/hash.ts";

const now = 1_000_000;
let last = 0;

function permit(host: string, caller: string, changes: Partial<Permit> = {}): Permit {
  const id = String(++last);
  return { holder: `holder-${id}`, host, caller, mode: "answer", since: now, until: now + 1, ...changes };
}

const may = (
  permits: readonly Permit[],
  host: string,
  caller: string,
  mode: Permit["mode"] = "answer",
  workers = 10,
) => limitReached(permits, { host, caller, mode }, workers, now) === undefined;

describe("an upload", () => {
  test("a host receives four uploads at a time, three of one caller", () => {
    const three = [permit("h", "a"), permit("h", "a"), permit("h", "a")];
    expect(may(three, "h", "a")).toBe(false);
    expect(may(three, "other", "a")).toBe(true);
    expect(may(three, "h", "b")).toBe(true);
    expect(may([...three, permit("h", "b")], "h", "c")).toBe(false);
  });

  test("a caller has one upload while half of ten workers are in use", () => {
    const five = Array.from({ length: 5 }, (_, index) => permit(`host-${index}`, "a"));
    expect(may(five.slice(1), "free", "a")).toBe(true);
    expect(may(five, "free", "a")).toBe(false);
    expect(may(five, "free", "b")).toBe(true);
    expect(may([...five, permit("h", "b")], "free", "b")).toBe(false);
  });

  test("four expired permits hold nobody back", () => {
    const over = Array.from({ length: 4 }, () => permit("h", "a", { until: now }));
    expect(may(over, "h", "a")).toBe(true);
  });
});

describe("the permits that hold a job back", () => {
  const held = (permits: readonly Permit[], host: string, caller: string, mode: Permit["mode"] = "answer") =>
    limitReached(permits, { host, caller, mode }, 10, now);

  test.each([
    { by: "others and one upload of its caller", own: 1, others: 4, ofOwn: false },
    { by: "its caller's uploads to its host, and others", own: 3, others: 2, ofOwn: true },
  ])("a job held back by $by is held back by its own uploads: $ofOwn", ({ own, others, ofOwn }) => {
    const permits = [
      ...Array.from({ length: own }, () => permit("h", "a")),
      ...Array.from({ length: others }, (_, index) => permit(`host-${index}`, `caller-${index}`)),
    ];
    const holdingBack = held(permits, "h", "a") ?? [];

    expect(holdingBack).toEqual(permits);
    expect(isHeldBackByOwn(holdingBack, { host: "h", caller: "a", mode: "answer" }, 10, now)).toBe(ofOwn);
  });

  test("a job that is held back is told the permits of the limit that it has reached", () => {
    const own = [permit("h", "a"), permit("h", "a"), permit("h", "a")];
    const other = permit("h", "b");
    const failure = permit("h", "a", { mode: "failure" });
    expect(held(own, "h", "a")).toEqual(own);
    expect(held([...own, other], "h", "c")).toEqual([...own, other]);
    expect(held([...own, other, failure], "i", "b")).toEqual([...own, other, failure]);
    expect(held([permit("h", "c", { mode: "failure" }), failure], "h", "d", "failure")).toHaveLength(2);
  });
});

test("the stored permits of two of three callers are found by the hashes of the callers", () => {
  const callers = ["a", "b", "c"].map(hashed);
  const stored = callers.map((caller) => shortened(permit(hashed("h"), caller)));
  expect(permitsOf(stored, callers.slice(1))).toEqual(stored.slice(1));
});

test("hosts whose hashes share 66 of 256 bits do not share their limits", () => {
  const host = hashed("h");
  const collided = `${host.slice(0, 11)}${host[11] === "A" ? "B" : "A"}${host.slice(12)}`;
  const stored = ["a", "b", "c", "d"].map((caller) => shortened(permit(host, caller)));
  expect(may(stored, host, "e")).toBe(false);
  expect(may(stored, collided, "e")).toBe(true);
});

/** Permits after many uploads began and ended in any order, each only if it may, and never more than workers. */
const anyUse = fc
  .record({
    workers: fc.integer({ min: 2, max: 30 }),
    steps: fc.array(
      fc.record({
        isEnd: fc.boolean(),
        caller: fc.integer({ min: 0, max: 20 }),
        host: fc.integer({ min: 0, max: 40 }),
        isFailure: fc.boolean(),
      }),
      { maxLength: 150 },
    ),
  })
  .map(({ workers, steps }) => {
    let permits: Permit[] = [];
    for (const { isEnd, caller, host, isFailure } of steps) {
      const mode = isFailure ? "failure" : "answer";
      const [hostName, callerName] = [`host-${host}`, `c-${caller}`];
      if (isEnd) permits = permits.filter((_, index) => index !== host % Math.max(1, permits.length));
      else if (permits.length < workers && may(permits, hostName, callerName, mode, workers))
        permits.push(permit(hostName, callerName, { mode }));
    }
    return { workers, permits };
  });

describe("workers", () => {
  test("a worker stays free while at most half as many callers as workers have uploads", () => {
    fc.assert(
      fc.property(anyUse, ({ workers, permits }) => {
        const callers = new Set(permits.map(({ caller }) => caller)).size;
        if (callers <= workers / 2) expect(permits.length).toBeLessThan(workers);
      }),
      { numRuns: 500 },
    );
  });
});

describe("a failure", () => {
  test("a host receives two failures at a time, however many answers it is being sent", () => {
    const uploads = Array.from({ length: 4 }, () => permit("h", "a"));
    expect(may(uploads, "h", "a", "failure")).toBe(true);
    const failures = [1, 2].map((caller) => permit("h", `b${caller}`, { mode: "failure" }));
    expect(may([...uploads, ...failures], "h", "c", "failure")).toBe(false);
    expect(may(failures, "h", "a")).toBe(true);
  });

  test("a caller has two failures at a time", () => {
    const failures = ["h", "i"].map((host) => permit(host, "a", { mode: "failure" }));
    expect(may(failures, "j", "a", "failure")).toBe(false);
    expect(may(failures, "j", "b", "failure")).toBe(true);
  });

  test("failures count among the workers in use", () => {
    const failures = Array.from({ length: 5 }, (_, index) =>
      permit(`h${index}`, `c${index}`, { mode: "failure" }),
    );
    expect(may([...failures.slice(1), permit("i", "b")], "j", "b")).toBe(false);
    expect(may(failures, "j", "b")).toBe(true);
  });
});
