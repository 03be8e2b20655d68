import { beforeAll, expect, test } from "vitest";
import { countersOf } from "../../functions/profile/rules.ts";
import {
  countAttempt,
  findProfile,
  forgetAttempt,
  recordLogin,
  replaceProfile,
} from "../../functions/profile/store.ts";
import { useTables } from "../support/database.ts";

const signal = AbortSignal.timeout(60_000);
const now = new Date("2026-11-21T10:07:00Z");
const countersWith = (limits: { accountAndSource: number; source: number; account: number }) =>
  countersOf(crypto.randomUUID(), crypto.randomUUID(), now, limits);

beforeAll(useTables);

test("of many attempts at once exactly as many pass as the limit allows", async () => {
  const counters = countersWith({ accountAndSource: 7, source: 100, account: 100 });

  const full = await Promise.all(Array.from({ length: 40 }, () => countAttempt(counters, now, signal)));

  expect(full.filter((counter) => counter === undefined)).toHaveLength(7);
  for (const counter of full) expect([undefined, counters[0]]).toContain(counter);
});

test("an attempt that is refused is counted nowhere", async () => {
  const counters = countersWith({ accountAndSource: 2, source: 3, account: 10 });
  const [pair, source, account] = counters;
  if (!pair || !source || !account) throw new Error("three counters are expected");
  for (let attempt = 0; attempt < 6; attempt++) await countAttempt(counters, now, signal);

  // Two of six were counted, so one more fits below the source's limit of three and eight below the account's.
  expect(await countAttempt([source], now, signal)).toBeUndefined();
  expect(await countAttempt([source], now, signal)).toBe(source);
  for (let left = 0; left < 8; left++) expect(await countAttempt([account], now, signal)).toBeUndefined();
  expect(await countAttempt([account], now, signal)).toBe(account);
});

test("an attempt taken back makes room for another", async () => {
  const counters = countersWith({ accountAndSource: 1, source: 1, account: 1 });

  expect(await countAttempt(counters, now, signal)).toBeUndefined();
  expect(await countAttempt(counters, now, signal)).toBe(counters[0]);
  await forgetAttempt(counters, signal);
  expect(await countAttempt(counters, now, signal)).toBeUndefined();
});

test("a limit of nought lets nothing pass", async () => {
  const counters = countersWith({ accountAndSource: 0, source: 9, account: 9 });
  expect(await countAttempt(counters, now, signal)).toBe(counters[0]);
});

const profile = () => ({
  ID: Math.floor(Math.random() * 1e9),
  Username: "Somebody",
  DateCreated: "2026-01-01T00:00:00Z",
  IsProfilePublic: true,
  EmailAddress: `Mixed.${crypto.randomUUID()}@example.com`,
  passwordHash: "$scrypt$ln=15,r=8,p=3$AAAA$BBBB",
});

test("a login is found by its address in lower case, whatever the case it was written in", async () => {
  const written = profile();
  await replaceProfile(written, signal);

  expect(await findProfile(written.EmailAddress.toLowerCase(), signal)).toEqual(written);
});

test("a login is recorded only while the password that was checked is the account's", async () => {
  const written = profile();
  await replaceProfile(written, signal);

  expect(await recordLogin(written, "2026-11-21T10:00:00Z", signal)).toBe(true);
  expect(
    await recordLogin({ ...written, passwordHash: "an older one" }, "2026-11-21T11:00:00Z", signal),
  ).toBe(false);
  expect((await findProfile(written.EmailAddress.toLowerCase(), signal))?.DateLastLogin).toBe(
    "2026-11-21T10:00:00Z",
  );
});

test("an address is not handed to another profile by an import", async () => {
  const written = profile();
  await replaceProfile(written, signal);

  await expect(replaceProfile({ ...written, ID: written.ID + 1 }, signal)).rejects.toThrow(
    "belongs to another",
  );
});
