import { expect, test } from "vitest";
import { Breaker } from "../../../shared/aws/breaker.ts";
import { tryMilliseconds } from "../../../shared/aws/database-client.ts";
import { countMilliseconds } from "../../../shared/quota/counting.ts";
import { seeded } from "../../support/random.ts";

/** A breaker whose time passes only when a test says so. */
function brokenAt(random = () => 0.5) {
  let now = 0;
  const breaker = new Breaker(() => now, random);
  const pass = (milliseconds: number) => {
    now += milliseconds;
  };
  const call = (isAnswered: boolean) => (breaker.begin() ? breaker.end(isAnswered) : undefined);
  return { breaker, pass, call };
}

test("the breaker stops calls after two unanswered ones in a row, and says so once", () => {
  const { call } = brokenAt();

  expect([false, true, false, false, false, false].map(call)).toEqual([
    false,
    false,
    false,
    true,
    undefined,
    undefined,
  ]);
});

test.each([
  [0, 500],
  [0.5, 1_000],
  [0.999, 1_499],
])("the breaker stops calls for 0.5 to 1.5 s by chance: with %d for %i ms", (chance, milliseconds) => {
  const { breaker, pass, call } = brokenAt(() => chance);
  call(false);
  call(false);

  pass(milliseconds - 1);
  expect(breaker.begin()).toBe(false);
  pass(1);
  expect(breaker.begin()).toBe(true);
});

test("the breaker lets one call try, stops again if it is not answered, and lets all through if it is", () => {
  const { breaker, pass, call } = brokenAt();
  call(false);
  call(false);
  pass(1_000);

  expect([breaker.begin(), breaker.begin()]).toEqual([true, false]);
  expect(breaker.end(false)).toBe(true);
  expect(breaker.begin()).toBe(false);
  pass(1_000);
  expect([breaker.begin(), breaker.begin()]).toEqual([true, false]);
  expect(breaker.end(true)).toBe(false);
  expect([breaker.begin(), breaker.begin()]).toEqual([true, true]);
});

test("the breaker stops once when many calls that began together are not answered", () => {
  const { breaker } = brokenAt();
  const calls = Array.from({ length: 20 }, () => breaker.begin());

  expect(calls.map(() => breaker.end(false)).filter(Boolean)).toHaveLength(1);
});

/** How a request counts in an outage: whether it asks, and what becomes of it. */
type Counting = Pick<Breaker, "begin" | "end" | "isTrying">;

/** An execution environment: it has one request at a time. */
interface Environment {
  readonly counting: Counting;
  busyUntil: number;
  isCounting: boolean;
}

const requestMilliseconds = 30;

/** An account's concurrent executions. */
const allExecutions = 1_000;

interface Outage {
  readonly seconds: number;
  readonly requestsPerSecond: number;
  /** How long a request waits for a call that is not answered, and for one that tries. */
  readonly wait: number;
  readonly tryWait?: number;
  readonly counting: (clock: () => number) => Counting;
  /** How long a new environment waits while it is loaded, in vain: its first unanswered call; else it is connected. */
  readonly load?: number;
  /** When DynamoDB answers again. */
  readonly end?: number;
}

/**
 * Concurrent executions at each request, in an outage that begins with the first of them. A request goes to the
 * environment that became idle last, or to a new one, or is refused where all executions are busy; Lambda's time to make
 * one is not modelled. What follows the call takes its time, as for densities, or as if it had been made.
 */
function executionsOf(
  outage: Outage,
): { readonly at: number; readonly executions: number; readonly isServed: boolean }[] {
  const {
    seconds,
    requestsPerSecond,
    wait,
    tryWait = wait,
    counting,
    load = 0,
    end = Number.POSITIVE_INFINITY,
  } = outage;
  let now = 0;
  const environment = () => ({ counting: counting(() => now), busyUntil: 0, isCounting: false });
  // As many as serve these requests while all is well.
  const environments: Environment[] = Array.from(
    { length: (requestsPerSecond * requestMilliseconds) / 1_000 },
    environment,
  );
  const seen: ReturnType<typeof executionsOf> = [];
  for (let request = 0; request < seconds * requestsPerSecond; request++) {
    const at = (request * 1_000) / requestsPerSecond;
    let idle: Environment | undefined;
    let busy = 1;
    for (const one of environments) {
      if (one.busyUntil > at) {
        busy++;
        continue;
      }
      now = one.busyUntil - requestMilliseconds;
      if (one.isCounting) one.counting.end(now >= end);
      one.isCounting = false;
      if (idle === undefined || one.busyUntil > idle.busyUntil) idle = one;
    }
    now = at;
    const isNew = idle === undefined;
    if (idle === undefined && environments.length < allExecutions) {
      idle = environment();
      environments.push(idle);
      if (load > 0) idle.counting.end(false);
    }
    if (idle === undefined) {
      seen.push({ at, executions: allExecutions, isServed: false });
      continue;
    }
    idle.isCounting = idle.counting.begin();
    const waits = !idle.isCounting || at >= end ? 0 : idle.counting.isTrying ? tryWait : wait;
    idle.busyUntil = at + (isNew ? load : 0) + requestMilliseconds + waits;
    seen.push({ at, executions: busy, isServed: idle.isCounting && at >= end });
  }
  return seen;
}

const most = (seen: ReturnType<typeof executionsOf>) => Math.max(...seen.map(({ executions }) => executions));

/** An outage of the counter at 2,000 requests a second. */
const ofCounter = { seconds: 6, requestsPerSecond: 2_000, wait: countMilliseconds };

test("an outage of the counter takes at most 500 executions in its first second and 150 later, of 2,000 requests a second", () => {
  const random = seeded(20);
  const seen = executionsOf({ ...ofCounter, counting: (clock) => new Breaker(clock, random) });

  expect(most(seen.filter(({ at }) => at < 1_000))).toBeLessThanOrEqual(500);
  expect(most(seen.filter(({ at }) => at >= 1_000))).toBeLessThanOrEqual(150);
});

test("an outage that no new environment can connect in takes at most 1,000 executions in two seconds and 150 later", () => {
  const random = seeded(20);
  const seen = executionsOf({ ...ofCounter, counting: (clock) => new Breaker(clock, random), load: 1_000 });

  expect(most(seen.filter(({ at }) => at < 2_000))).toBeLessThanOrEqual(1_000);
  expect(most(seen.filter(({ at }) => at >= 2_000))).toBeLessThanOrEqual(150);
});

/** A DynamoDB that is silent for 20 seconds, whose callers get 503 after three attempts, at 1,000 requests a second. */
const ofAll = { seconds: 25, requestsPerSecond: 1_000, wait: 3_100, tryWait: tryMilliseconds, end: 20_000 };

test("a silent DynamoDB takes at most 250 executions after ten seconds, not 1,000 as without a breaker, and all are served five after its end", () => {
  const random = seeded(20);
  const seen = executionsOf({ ...ofAll, counting: (clock) => new Breaker(clock, random) });
  const always = { begin: () => true, end: () => false, isTrying: false };
  const before = executionsOf({ ...ofAll, counting: () => always });

  expect(most(seen.filter(({ at }) => at >= 10_000))).toBeLessThanOrEqual(250);
  expect(most(before.filter(({ at }) => at >= 10_000))).toBe(1_000);
  expect(seen.filter(({ at, isServed }) => at >= 24_000 && !isServed)).toEqual([]);
});
