import fc from "fast-check";
import { expect, test } from "vitest";
import { addressOf, countersOf, secondsLeft, windowSeconds } from "../../functions/profile/rules.ts";

const limits = { accountAndSource: 3, source: 5, account: 4 };
const now = new Date("2026-11-21T10:07:00Z");

test("a login's address is read in lower case, and an empty one for none", () => {
  expect(addressOf("Ada@Example.COM")).toBe("ada@example.com");
  expect(addressOf(undefined)).toBe("");
});

test("a login counts by the narrowest counter first, each with its own limit", () => {
  expect(countersOf("a@example.com", "203.0.113.1", now, limits).map(({ limit }) => limit)).toEqual([
    3, 5, 4,
  ]);
});

test("the counters of a login hold no address", () => {
  fc.assert(
    fc.property(fc.emailAddress(), fc.ipV4(), (address, source) => {
      const keys = countersOf(address, source, now, limits).map(({ key }) => key);
      expect(keys.join(" ")).not.toContain(address);
      expect(keys.join(" ")).not.toContain(source);
    }),
  );
});

test("a login has other counters exactly for another account, source or window", () => {
  const keysOf = (address: string, source: string, at: Date) =>
    countersOf(address, source, at, limits).map(({ key }) => key);
  const [pair, source, account] = keysOf("a@example.com", "203.0.113.1", now);

  expect(keysOf("a@example.com", "203.0.113.1", new Date(now.getTime() + 1_000))).toEqual([
    pair,
    source,
    account,
  ]);
  expect(keysOf("b@example.com", "203.0.113.1", now)).toEqual([
    expect.not.stringMatching(pair ?? ""),
    source,
    expect.anything(),
  ]);
  expect(keysOf("a@example.com", "203.0.113.2", now)[2]).toBe(account);
  expect(keysOf("a@example.com", "203.0.113.2", now)[1]).not.toBe(source);
  const later = keysOf("a@example.com", "203.0.113.1", new Date(now.getTime() + windowSeconds * 1_000));
  expect(later.filter((key) => [pair, source, account].includes(key))).toEqual([]);
});

test("a login counts all addresses of one IPv6 /64 as one source", () => {
  const keyOf = (source: string) => countersOf("a@example.com", source, now, limits)[1]?.key;

  expect(keyOf("2001:db8:1:1::1")).toBe(keyOf("2001:0db8:0001:0001:ffff::2"));
  expect(keyOf("2001:db8:1:1::1")).not.toBe(keyOf("2001:db8:1:2::1"));
});

test("a refused login may retry when the window ends that the attempt is counted in, and no later one", () => {
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date("2100-01-01"), noInvalidDate: true }), (at) => {
      const left = secondsLeft(at);
      const keyAt = (seconds: number) =>
        countersOf(
          "a",
          "203.0.113.1",
          new Date((Math.floor(at.getTime() / 1_000) + seconds) * 1_000),
          limits,
        )[0]?.key;
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThanOrEqual(windowSeconds);
      expect(keyAt(left - 1)).toBe(keyAt(0));
      expect(keyAt(left)).not.toBe(keyAt(0));
    }),
  );
});
