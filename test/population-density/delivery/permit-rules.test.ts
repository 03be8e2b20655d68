import { describe, expect, test } from "vitest";
import {
  handOver,
  limitReached,
  type Permit,
  type Waiting,
} from "../../../functions/population-density/delivery/permit-rules.ts";

const now = 1_000_000;
const workers = 10;
let last = 0;

function permit(host: string, caller: string, changes: Partial<Permit> = {}): Permit {
  const id = String(++last);
  return {
    operationId: id,
    holder: `holder-${id}`,
    host,
    caller,
    mode: "answer",
    until: now + 1,
    ...changes,
  };
}

function waiting(host: string, caller: string, since: number): Waiting {
  const limit = `host ${host}`;
  const operationId = String(++last);
  return { limit, since, operationId, host, caller, mode: "answer", queue: "q", receiptHandle: "r" };
}

const may = (permits: readonly Permit[], host: string, caller: string, mode: Permit["mode"] = "answer") =>
  limitReached(permits, { operationId: "new", host, caller, mode }, workers, now) === undefined;

/** Takes permits for as long as there are some, in turn for each of some callers, each at hosts of its own. */
function fill(callers: number): Permit[] {
  const permits: Permit[] = [];
  for (let turn = 0; turn < 20; turn++) {
    for (let caller = 0; caller < callers; caller++) {
      const host = `host-${caller}-${turn}`;
      if (permits.length < workers && may(permits, host, `caller-${caller}`)) {
        permits.push(permit(host, `caller-${caller}`));
      }
    }
  }
  return permits;
}

describe("an upload", () => {
  test("is one of four to its host, and one of three of its caller to it", () => {
    const three = [permit("h", "a"), permit("h", "a"), permit("h", "a")];
    expect(may(three, "h", "a")).toBe(false);
    expect(may(three, "other", "a")).toBe(true);
    expect(may(three, "h", "b")).toBe(true);
    expect(may([...three, permit("h", "b")], "h", "c")).toBe(false);
  });

  test("of a caller finds half of the workers that others leave free, and one in any case", () => {
    expect(fill(1)).toHaveLength(5);
    expect(fill(4).length).toBeLessThan(workers);
    expect(may(fill(4), "free", "somebody else")).toBe(true);
    const many = fill(10);
    expect(many).toHaveLength(10);
    expect(new Set(many.map(({ caller }) => caller)).size).toBe(10);
  });

  test("waits for no permit whose time is over, and not for the one that is kept for it", () => {
    const over = Array.from({ length: 4 }, () => permit("h", "a", { until: now }));
    expect(may(over, "h", "a")).toBe(true);
    const kept = [1, 2, 3].map(() => permit("h", "b"));
    const own: Permit = { operationId: "new", host: "h", caller: "a", mode: "answer", until: now + 1 };
    expect(may([...kept, own], "h", "a")).toBe(true);
    expect(may([...kept, { ...own, operationId: "another" }], "h", "a")).toBe(false);
  });
});

describe("a failure", () => {
  test("is sent however busy its host and its caller are, two at a time to a host", () => {
    const uploads = Array.from({ length: 4 }, () => permit("h", "a"));
    expect(may(uploads, "h", "a", "failure")).toBe(true);
    const failures = [1, 2].map((caller) => permit("h", `b${caller}`, { mode: "failure" }));
    expect(may([...uploads, ...failures], "h", "a", "failure")).toBe(false);
    expect(may(failures, "h", "a")).toBe(true);
  });

  test("is one of two of its caller, whose dead hosts do not take all workers", () => {
    const failures = ["h", "i"].map((host) => permit(host, "a", { mode: "failure" }));
    expect(may(failures, "j", "a", "failure")).toBe(false);
    expect(may(failures, "j", "b", "failure")).toBe(true);
  });

  test("takes a worker that others do not find free", () => {
    const failures = Array.from({ length: 8 }, (_, index) => permit(`h${index}`, "a", { mode: "failure" }));
    expect(may(failures, "j", "b")).toBe(true);
    expect(may([...failures, permit("j", "b")], "k", "b")).toBe(false);
  });
});

describe("a permit that comes free", () => {
  test("is kept for who has waited longest, so that nobody overtakes him", () => {
    const [second, first] = [waiting("h", "c", 20), waiting("h", "b", 10)];
    const inUse = [1, 2, 3].map(() => permit("h", "a"));
    const { permits, woken } = handOver(inUse, [second, first], workers, now);
    expect(woken).toEqual([first]);
    expect(limitReached(permits, { ...second, operationId: "new" }, workers, now)).toBeDefined();
    expect(limitReached(permits, first, workers, now)).toBeUndefined();
  });

  test("goes to the next when the first may not have it, and to several when there are several", () => {
    const inUse = [1, 2, 3].map(() => permit("h", "a"));
    const blocked = waiting("h", "a", 1);
    const others = [waiting("h", "b", 2), waiting("i", "b", 3)];
    expect(handOver(inUse, [blocked, ...others], workers, now).woken).toEqual(others);
  });

  test("is not kept for ever for who does not come", () => {
    const { permits } = handOver([], [waiting("h", "a", 1)], workers, now);
    expect(permits).toHaveLength(1);
    expect(permits[0]?.until).toBeLessThanOrEqual(now + 10_000);
  });
});
