import { setMaxListeners } from "node:events";
import { beforeAll, expect, test } from "vitest";
import { attemptName, type Counter, countersOf } from "../../functions/profile/rules.ts";
import {
  beginAttempt,
  failAttempt,
  findProfile,
  recordLogin,
  replaceHash,
  replaceProfile,
  withdrawAttempt,
} from "../../functions/profile/store.ts";
import { useTables } from "../support/database.ts";
import { isWhole } from "../support/sample.ts";

const signal = AbortSignal.timeout(600_000);
// Many calls listen to it at the same time.
setMaxListeners(0, signal);
const now = new Date("2026-11-21T10:07:00Z");
const countersWith = (limits: { accountAndSource: number; source: number; account: number }) =>
  countersOf(crypto.randomUUID(), crypto.randomUUID(), now, limits);

beforeAll(useTables);

let attempts = 0;
const newAttempt = (at = now) => attemptName(at, String(attempts++));

async function begin(counters: readonly Counter[], at = now) {
  const attempt = newAttempt(at);
  return { attempt, refusal: await beginAttempt(attempt, counters, at, signal) };
}

test("the counter of logins lets exactly as many concurrent attempts pass as the limit allows", async () => {
  const counters = countersWith({ accountAndSource: 7, source: 100, account: 100 });

  const begun = await Promise.all(Array.from({ length: 40 }, () => begin(counters)));

  const refusals = begun.flatMap(({ refusal }) => refusal ?? []);
  expect(refusals).toHaveLength(33);
  for (const { counter } of refusals) expect(counter).toBe(counters[0]);
});

test("the counter of logins counts a refused attempt nowhere", async () => {
  const counters = countersWith({ accountAndSource: 2, source: 3, account: 10 });
  const [pair, source, account] = counters;
  if (!pair || !source || !account) throw new Error("three counters are expected");
  for (let attempt = 0; attempt < 6; attempt++) await begin(counters);

  // Two of six were counted, so one more fits below the source's limit of three and eight below the account's.
  expect((await begin([source])).refusal).toBeUndefined();
  expect((await begin([source])).refusal?.counter).toBe(source);
  for (let left = 0; left < 8; left++) expect((await begin([account])).refusal).toBeUndefined();
  expect((await begin([account])).refusal?.counter).toBe(account);
});

test("the counter of logins uncounts an attempt once, however often it is repeated", async () => {
  const counters = countersWith({ accountAndSource: 2, source: 2, account: 2 });
  const { attempt } = await begin(counters);
  await begin(counters);
  expect((await begin(counters)).refusal).toBeDefined();

  await Promise.all(Array.from({ length: 3 }, () => withdrawAttempt(attempt, counters, signal)));

  expect((await begin(counters)).refusal).toBeUndefined();
  expect((await begin(counters)).refusal).toBeDefined();
});

test("the counter of logins counts an attempt once when its write is sent twice", async () => {
  const counters = countersWith({ accountAndSource: 2, source: 2, account: 2 });
  const attempt = newAttempt();

  for (let sent = 0; sent < 3; sent++) {
    expect(await beginAttempt(attempt, counters, now, signal)).toBeUndefined();
  }
  expect((await begin(counters)).refusal).toBeUndefined();
  expect((await begin(counters)).refusal).toBeDefined();
});

test("a refused attempt reports whether failures alone reached the limit", async () => {
  const counters = countersWith({ accountAndSource: 2, source: 9, account: 9 });
  const [first, second] = [await begin(counters), await begin(counters)];
  expect((await begin(counters)).refusal?.reason).toBe("underWay");

  await failAttempt(first.attempt, counters, signal);
  expect((await begin(counters)).refusal?.reason).toBe("underWay");
  await failAttempt(second.attempt, counters, signal);
  expect((await begin(counters)).refusal?.reason).toBe("failures");
});

test("an attempt recorded as a failure stays counted when it is withdrawn later", async () => {
  const counters = countersWith({ accountAndSource: 1, source: 9, account: 9 });
  const { attempt } = await begin(counters);
  await failAttempt(attempt, counters, signal);

  await withdrawAttempt(attempt, counters, signal);

  expect((await begin(counters)).refusal?.reason).toBe("failures");
});

test("the counter of logins no longer counts attempts of executions that died, and still counts failures", async () => {
  const all = countersWith({ accountAndSource: 60, source: 90, account: 90 });
  const counters = isWhole ? all : all.slice(0, 1);
  const later = (seconds: number) => new Date(now.getTime() + seconds * 1_000);
  const failed = await begin(counters);
  await failAttempt(failed.attempt, counters, signal);
  await Promise.all(Array.from({ length: 59 }, () => begin(counters)));
  // Longer than the function may run.
  expect((await begin(counters, later(11))).refusal?.reason).toBe("underWay");

  const begun = await Promise.all(Array.from({ length: 62 }, () => begin(counters, later(21))));
  let passed = begun.filter(({ refusal }) => refusal === undefined).length;
  expect(passed).toBeLessThanOrEqual(59);
  while ((await begin(counters, later(21))).refusal === undefined) passed++;

  expect(passed).toBe(59);
});

const profile = () => ({
  ID: Math.floor(Math.random() * 1e9),
  Username: "Somebody",
  DateCreated: "2026-01-01T00:00:00Z",
  IsProfilePublic: true,
  EmailAddress: `Mixed.${crypto.randomUUID()}@example.com`,
  passwordHash: "$scrypt$ln=15,r=8,p=3$AAAA$BBBB",
});

test("a login finds a profile by its address in lower case, stored in any case", async () => {
  const written = profile();
  await replaceProfile(written, signal);

  expect(await findProfile(written.EmailAddress.toLowerCase(), signal)).toEqual(written);
});

test("a login is recorded only while the checked password is still the account's", async () => {
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

test("a hash is renewed only if it is still the hash that was checked", async () => {
  const written = profile();
  await replaceProfile(written, signal);
  const hashOf = async () => (await findProfile(written.EmailAddress.toLowerCase(), signal))?.passwordHash;

  await replaceHash({ ...written, passwordHash: "an older one" }, "new", signal);
  expect(await hashOf()).toBe(written.passwordHash);
  await replaceHash(written, "new", signal);
  expect(await hashOf()).toBe("new");
});

test("ncs import profiles refuses to hand an address to another profile", async () => {
  const written = profile();
  await replaceProfile(written, signal);

  await expect(replaceProfile({ ...written, ID: written.ID + 1 }, signal)).rejects.toThrow(
    "belongs to another",
  );
});
