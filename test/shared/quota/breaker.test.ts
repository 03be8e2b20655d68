import { expect, test } from "vitest";
import { Breaker } from "../../../shared/quota/breaker.ts";
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
type Counting = Pick<Breaker, "begin" | "end">;

/** An execution environment: it has one request at a time. */
interface Environment {
  readonly counting: Counting;
  busyUntil: number;
  isCounting: boolean;
}

const requestMilliseconds = 30;
const requestsPerSecond = 2_000;

/**
 * Concurrent executions at each request, in an outage of the counter that begins with the first of them. A request goes
 * to the environment that became idle last, or to a new one; Lambda's time to make one is not modelled. The handler runs
 * after the count, as that of densities does.
 * @param loadMilliseconds how long a new environment waits for DynamoDB while it is loaded, in vain: its first
 * unanswered call. Without it, new ones were connected before.
 */
function executionsOf(
  seconds: number,
  waitMilliseconds: number,
  counting: (clock: () => number) => Counting,
  loadMilliseconds = 0,
): { readonly at: number; readonly executions: number }[] {
  let now = 0;
  const environment = () => ({ counting: counting(() => now), busyUntil: 0, isCounting: false });
  // As many as serve these requests while the counter answers.
  const environments: Environment[] = Array.from(
    { length: (requestsPerSecond * requestMilliseconds) / 1_000 },
    environment,
  );
  const seen: { at: number; executions: number }[] = [];
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
      if (one.isCounting) one.counting.end(false);
      one.isCounting = false;
      if (idle === undefined || one.busyUntil > idle.busyUntil) idle = one;
    }
    now = at;
    const isNew = idle === undefined;
    if (idle === undefined) {
      idle = environment();
      environments.push(idle);
      if (loadMilliseconds > 0) idle.counting.end(false);
    }
    idle.isCounting = idle.counting.begin();
    const load = isNew ? loadMilliseconds : 0;
    idle.busyUntil = at + load + requestMilliseconds + (idle.isCounting ? waitMilliseconds : 0);
    seen.push({ at, executions: busy });
  }
  return seen;
}

const most = (seen: ReturnType<typeof executionsOf>) => Math.max(...seen.map(({ executions }) => executions));

test("an outage of the counter takes at most 500 executions in its first second and 150 later, of 2,000 requests a second", () => {
  const random = seeded(20);
  const seen = executionsOf(6, countMilliseconds, (clock) => new Breaker(clock, random));

  expect(most(seen.filter(({ at }) => at < 1_000))).toBeLessThanOrEqual(500);
  expect(most(seen.filter(({ at }) => at >= 1_000))).toBeLessThanOrEqual(150);
});

test("an outage that no new environment can connect in takes at most 1,000 executions in two seconds and 150 later", () => {
  const random = seeded(20);
  const seen = executionsOf(6, countMilliseconds, (clock) => new Breaker(clock, random), 1_000);

  expect(most(seen.filter(({ at }) => at < 2_000))).toBeLessThanOrEqual(1_000);
  expect(most(seen.filter(({ at }) => at >= 2_000))).toBeLessThanOrEqual(150);
});

test("without a breaker, requests that each wait 3.1 s for the counter take an account's 1,000 executions in a second", () => {
  const always = { begin: () => true, end: () => false };
  const seen = executionsOf(1, 3_100, () => always);

  expect(most(seen)).toBeGreaterThan(1_000);
});
