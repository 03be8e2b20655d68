import { setMaxListeners } from "node:events";
import fc from "fast-check";
import { beforeEach, describe, expect, test, vi } from "vitest";
import * as z from "zod";
import { getItem, putItem } from "../../../shared/aws/database.ts";
import { hashed } from "../../../shared/hash.ts";
import {
  countRequest,
  countWork,
  type RateLimitResult,
  refusalWithoutCount,
  uncountWork,
} from "../../../shared/quota/quota.ts";
import { quotas } from "../../../shared/quota/table.ts";
import { tableVariable, withSchema } from "../../../shared/table.ts";
import { useTables } from "../../support/database.ts";
import { runs } from "../../support/sample.ts";

const signal = AbortSignal.timeout(600_000);
setMaxListeners(0, signal);
const second = 1_000;
const minute = 60 * second;
const day = 24 * 60 * minute;
const midnight = Date.UTC(2026, 10, 21);
const noon = midnight + day / 2;

const limits = ({
  rate = 1_000_000,
  quota = 1_000_000,
}: {
  readonly rate?: number;
  readonly quota?: number;
}) => {
  vi.stubEnv("RATE_LIMIT_PER_MINUTE", String(rate));
  vi.stubEnv("DAILY_QUOTA", String(quota));
};

const anyone = () => crypto.randomUUID();
const count = async (client: string, at: number) =>
  refusalWithoutCount(client, new Date(at)) ?? (await countRequest(client, new Date(at), signal));
const countMany = (client: string, requests: number, at: (index: number) => number) =>
  Promise.all(Array.from({ length: requests }, (_, index) => count(client, at(index))));
const passed = (results: readonly RateLimitResult[]) =>
  results.filter(({ code }) => code === undefined).length;

/** What the table knows of a caller, whom it knows by a hash. */
const counters = z.object({
  day: z.number(),
  dayCount: z.number(),
  minute: z.number(),
  minuteCount: z.number(),
  expiresAt: z.number(),
});
const counted = (client: string) => getItem(withSchema(quotas, counters), { caller: hashed(client) }, signal);

beforeEach(() => {
  useTables();
  limits({});
});

test.each([
  [{ rate: 12 }, "TOO_MANY_REQUESTS"],
  [{ quota: 12 }, "QUOTA_EXCEEDED"],
])("the quota lets twelve of forty concurrent first requests pass under %j", async (allowed, code) => {
  limits(allowed);

  const results = await countMany(anyone(), 40, () => noon);

  expect(passed(results)).toBe(12);
  expect(new Set(results.map((result) => result.code))).toEqual(new Set([undefined, code]));
});

test("the quota reports a different remaining number to each of many concurrent requests", async () => {
  limits({ rate: 40 });
  const client = anyone();
  await count(client, noon);

  const results = await countMany(client, 20, () => noon);

  const left = results.map(({ allowance }) => allowance.remaining).sort((one, other) => other - one);
  expect(left).toEqual(Array.from({ length: 20 }, (_, index) => 38 - index));
});

/** How many requests come at once. */
const many = runs(60, 20);

test("the quota counts every request once when the clocks of functions differ at the end of a minute", async () => {
  const client = anyone();

  const results = await countMany(client, many, (index) => noon + minute + (index % 2 === 0 ? -1 : 0));

  expect(passed(results)).toBe(many);
  expect(await counted(client)).toMatchObject({ minute: noon / minute + 1, dayCount: many });
});

test("the quota lets no more through than the rate when a clock is behind", async () => {
  limits({ rate: 3 });
  const client = anyone();
  for (let request = 0; request < 3; request++) await count(client, noon + minute);

  expect(await count(client, noon + minute - 1)).toMatchObject({ code: "TOO_MANY_REQUESTS" });
  expect(await counted(client)).toMatchObject({ minute: noon / minute + 1, minuteCount: 3 });
});

/** A table that cannot be called: a count that needs it fails. */
const withoutTable = () => vi.stubEnv(tableVariable(quotas), "");

test("the quota refuses a caller without a call, as with one, until a minute ends that it knows to be used up", async () => {
  limits({ rate: 2 });
  const client = anyone();
  const results = [await count(client, noon), await count(client, noon), await count(client, noon)];
  expect(results.map(({ code }) => code)).toEqual([undefined, undefined, "TOO_MANY_REQUESTS"]);

  withoutTable();
  const seconds = (left: number) => ({
    code: "TOO_MANY_REQUESTS",
    retryAfterSeconds: left,
    allowance: { limit: 2, remaining: 0, resetSeconds: left },
  });
  expect(await count(client, noon + 20 * second)).toEqual(seconds(40));
  expect(await count(client, noon - 5 * second)).toEqual(seconds(5));
  await expect(count(client, noon + minute)).rejects.toThrow();
  await expect(count(anyone(), noon)).rejects.toThrow();
});

test("the quota counts a caller whose used-up minute has got a higher rate", async () => {
  limits({ rate: 1 });
  const client = anyone();
  await countMany(client, 3, () => noon);

  limits({ rate: 2 });

  expect((await count(client, noon)).code).toBeUndefined();
  expect((await count(client, noon)).code).toBe("TOO_MANY_REQUESTS");
});

test("the quota refuses a caller whose day was found used up without a call for five seconds, and then asks again, as work is refunded", async () => {
  limits({ quota: 4 });
  const client = anyone();
  const first = await count(client, noon);
  await countWork(client, 3, first.allowance, new Date(noon), signal);
  const refused = await count(client, noon);
  expect(refused.code).toBe("QUOTA_EXCEEDED");
  await uncountWork(client, 3, new Date(noon), signal);

  withoutTable();
  expect((await count(client, noon + 4_999)).code).toBe(refused.code);
  await expect(count(anyone(), noon)).rejects.toThrow();
  useTables();
  expect((await count(client, noon + 5_000)).code).toBeUndefined();
});

test("the quota counts a request after work that was refused, and one of the day after a used-up one", async () => {
  limits({ quota: 2 });
  const client = anyone();
  const { allowance } = await count(client, noon);
  expect(await countWork(client, 9, allowance, new Date(noon), signal)).toMatchObject({
    code: "QUOTA_EXCEEDED",
  });
  expect((await count(client, noon)).code).toBeUndefined();
  expect((await count(client, midnight + day - 1)).code).toBe("QUOTA_EXCEEDED");
  expect((await count(client, midnight + day)).code).toBeUndefined();
});

test("the quota keeps a caller's counters until the day is over and lets them expire soon after", async () => {
  const client = anyone();
  await count(client, noon);

  const { expiresAt = 0 } = (await counted(client)) ?? {};
  expect(expiresAt * second).toBeGreaterThan(midnight + day);
  expect(expiresAt * second).toBeLessThanOrEqual(midnight + 3 * day);
});

/** What a request gets after those that were accepted: the limit with fewer left decides, the day's if both have as many. */
function modelled(
  accepted: readonly number[],
  at: number,
  { rate, quota }: { readonly rate: number; readonly quota: number },
): RateLimitResult {
  const left = (limit: number, window: number) => ({
    limit,
    remaining: limit - accepted.filter((one) => Math.floor(one / window) === Math.floor(at / window)).length,
    resetSeconds: Math.ceil((window - (at % window)) / second),
  });
  const [ofMinute, ofDay] = [left(rate, minute), left(quota, day)];
  const exceeded = ofDay.remaining <= 0 ? ofDay : ofMinute.remaining <= 0 ? ofMinute : undefined;
  if (exceeded !== undefined) {
    const code = exceeded === ofDay ? "QUOTA_EXCEEDED" : "TOO_MANY_REQUESTS";
    return { code, retryAfterSeconds: exceeded.resetSeconds, allowance: { ...exceeded, remaining: 0 } };
  }
  const nearer = ofDay.remaining <= ofMinute.remaining ? ofDay : ofMinute;
  return { allowance: { ...nearer, remaining: nearer.remaining - 1 } };
}

test("the quota agrees with a simple model for any sequence of times", async () => {
  const gap = fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 0, max: 20 * second }) },
    { weight: 2, arbitrary: fc.integer({ min: 0, max: 3 * minute }) },
    { weight: 1, arbitrary: fc.constantFrom(minute, day, 2 * day, day / 2) },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(gap, { maxLength: 25 }),
      fc.integer({ min: 0, max: 4 }),
      fc.integer({ min: 0, max: 9 }),
      async (gaps, rate, quota) => {
        limits({ rate, quota });
        const client = anyone();
        const accepted: number[] = [];
        let at = noon;
        for (const wait of gaps) {
          at += wait;
          const expected = modelled(accepted, at, { rate, quota });

          expect(await count(client, at)).toEqual(expected);
          if (expected.code === undefined) accepted.push(at);
        }
      },
    ),
    { numRuns: runs(30, 12) },
  );
});

test("the quota throws when a caller's counters are damaged", async () => {
  const client = anyone();
  await putItem(quotas, { caller: hashed(client), day: "today" }, {}, signal);

  await expect(count(client, noon)).rejects.toThrow();
});

describe("the work of a request", () => {
  const ofDay = (limit: number, remaining: number) => ({ limit, remaining, resetSeconds: day / 2 / second });
  const work = async (client: string, units: number) => {
    const { code, allowance } = await count(client, noon);
    if (code !== undefined) throw new Error(code);
    return await countWork(client, units, allowance, new Date(noon), signal);
  };

  test("the quota of work counts against the daily quota and not against the rate", async () => {
    limits({ rate: 50, quota: 100 });
    const client = anyone();

    expect(await work(client, 12)).toEqual({ allowance: { limit: 50, remaining: 49, resetSeconds: 60 } });
    expect(await counted(client)).toMatchObject({ minuteCount: 1, dayCount: 13 });
    expect(await work(client, 60)).toEqual({ allowance: ofDay(100, 26) });
  });

  test("the quota of work refuses work beyond what is left, reports what is left and counts nothing", async () => {
    limits({ quota: 10 });
    const client = anyone();

    expect(await work(client, 10)).toEqual({
      code: "QUOTA_EXCEEDED",
      message: "The request costs 10 more of the daily quota, which has 9 left. Ask for less.",
      retryAfterSeconds: day / 2 / second,
      allowance: ofDay(10, 9),
    });
    expect(await counted(client)).toMatchObject({ dayCount: 1 });
    expect(await work(client, 8)).toEqual({ allowance: ofDay(10, 0) });
  });

  test("the quota of work passes exactly as often as the quota allows for concurrent requests", async () => {
    limits({ quota: 100 });
    const client = anyone();
    const admitted = await countMany(client, 20, () => noon);

    const results = await Promise.all(
      admitted.map(({ allowance }) => countWork(client, 15, allowance, new Date(noon), signal)),
    );

    expect(passed(results)).toBe(5);
    expect(await counted(client)).toMatchObject({ dayCount: 95 });
  });

  test("the quota of work counts into the day that has begun meanwhile", async () => {
    limits({ quota: 10 });
    const client = anyone();
    const { allowance } = await count(client, midnight + day - 1);
    await count(client, midnight + day);

    const result = await countWork(client, 3, allowance, new Date(midnight + day - 1), signal);

    expect(result.code).toBeUndefined();
    expect(await counted(client)).toMatchObject({ day: midnight / day + 1, dayCount: 4 });
  });
});
