import { expect, it } from "vitest";
import { type Jwks, KeySet } from "../../functions/authorizer/key-set.ts";
import { Unavailable } from "../../shared/errors.ts";
import { ellipticKey, type KeyPair } from "../support/signed.ts";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const start = Date.UTC(2026, 10, 21, 10);
const cooldown = 10 * second;

const first = ellipticKey();
const next = ellipticKey();
const unreachable = () => Promise.reject<Jwks>(new Error("no route"));
const serving =
  (...pairs: readonly KeyPair[]) =>
  async (): Promise<Jwks> => ({ keys: pairs.map(({ jwk }) => jwk) });

/** A key set whose source can be changed while it is in use. */
function keySetFrom(fetch: () => Promise<Jwks>, cooldownMilliseconds = cooldown) {
  const source = { fetch, fetches: 0, failures: 0 };
  const keys = new KeySet({
    fetch: () => {
      source.fetches++;
      return source.fetch();
    },
    cooldownMilliseconds,
    onFailure: () => {
      source.failures++;
    },
  });
  const find = ({ kid }: KeyPair, at: number) =>
    keys.keyFor({ alg: "ES256", kid }, { payload: "", signature: "" }, start + at);
  return { source, find };
}

const noSuchKey = expect.objectContaining({ code: "ERR_JWKS_NO_MATCHING_KEY" });

it("shares one fetch among all who ask at once", async () => {
  const { source, find } = keySetFrom(serving(first));

  const found = await Promise.all(Array.from({ length: 50 }, () => find(first, 0)));

  expect(found).toHaveLength(50);
  expect(source.fetches).toBe(1);
});

it("keeps fresh keys without asking, and renews them when they are stale", async () => {
  const { source, find } = keySetFrom(serving(first));

  await find(first, 0);
  await find(first, 5 * minute);
  expect(source.fetches).toBe(1);
  await find(first, 5 * minute + 1);
  expect(source.fetches).toBe(2);
});

it("forgets a key that its issuer withdrew once the keys are stale", async () => {
  const { source, find } = keySetFrom(serving(first, next));
  await find(first, 0);
  source.fetch = serving(next);

  await expect(find(first, 5 * minute + 1)).rejects.toEqual(noSuchKey);
  await expect(find(next, 5 * minute + 1)).resolves.toBeDefined();
});

it("goes on with the last good keys for a day when they cannot be renewed, and not for longer", async () => {
  const { source, find } = keySetFrom(serving(first));
  await find(first, 0);
  source.fetch = unreachable;

  for (const at of [6 * minute, hour, 12 * hour, 24 * hour]) await find(first, at);
  expect(source.failures).toBe(4);
  await expect(find(first, 24 * hour + 1)).rejects.toBeInstanceOf(Unavailable);
});

it("is good again as soon as the issuer is back", async () => {
  const { source, find } = keySetFrom(serving(first));
  await find(first, 0);
  source.fetch = unreachable;
  await expect(find(first, 25 * hour)).rejects.toBeInstanceOf(Unavailable);
  source.fetch = serving(first);

  await expect(find(first, 25 * hour + cooldown + 1)).resolves.toBeDefined();
});

it("is unavailable, not without a matching key, before any keys were had", async () => {
  const { source, find } = keySetFrom(unreachable);

  const asked = await Promise.allSettled([find(first, 0), find(first, 0), find(next, 1)]);

  expect(asked.map((one) => (one.status === "rejected" ? one.reason : one))).toEqual([
    expect.any(Unavailable),
    expect.any(Unavailable),
    expect.any(Unavailable),
  ]);
  expect(source.fetches).toBe(1);
  expect(source.failures).toBe(1);
});

it("asks an issuer that does not answer again only after the cooldown", async () => {
  const { source, find } = keySetFrom(unreachable);

  for (const at of [0, second, cooldown - 1]) {
    await expect(find(first, at)).rejects.toBeInstanceOf(Unavailable);
  }
  expect(source.fetches).toBe(1);
  await expect(find(first, cooldown + 1)).rejects.toBeInstanceOf(Unavailable);
  expect(source.fetches).toBe(2);
});

it("asks at most once a cooldown for ids nobody knows, however many come", async () => {
  const { source, find } = keySetFrom(serving(first));
  await find(first, 0);

  for (let at = second; at < 2 * cooldown; at += second / 10) {
    await expect(find(ellipticIdOnly(), at)).rejects.toEqual(noSuchKey);
  }

  // One at the start, then one in each cooldown that has passed.
  expect(source.fetches).toBe(2);
  await expect(find(first, 2 * cooldown)).resolves.toBeDefined();
});

it("finds a key published since the last fetch as soon as the cooldown allows", async () => {
  const { source, find } = keySetFrom(serving(first));
  await find(first, 0);
  source.fetch = serving(first, next);

  await expect(find(next, cooldown - 1)).rejects.toEqual(noSuchKey);
  await expect(find(next, cooldown + 1)).resolves.toBeDefined();
  expect(source.fetches).toBe(2);
});

it("without a cooldown finds a key at once, but asks a source that fails at most once a second", async () => {
  const { source, find } = keySetFrom(serving(first), 0);
  await find(first, 0);
  source.fetch = serving(first, next);
  await expect(find(next, 0)).resolves.toBeDefined();
  const { fetches } = source;

  source.fetch = unreachable;
  for (const at of [1, 2, 500, 999]) {
    await expect(find(ellipticIdOnly(), at)).rejects.toBeInstanceOf(Unavailable);
  }
  expect(source.fetches).toBe(fetches + 1);
  await expect(find(ellipticIdOnly(), 2 * second)).rejects.toBeInstanceOf(Unavailable);
  expect(source.fetches).toBe(fetches + 2);
});

it("does not say that an id is unknown while its issuer does not answer, and keeps what it has", async () => {
  const { source, find } = keySetFrom(serving(first));
  await find(first, 0);
  source.fetch = unreachable;

  await expect(find(next, cooldown + 1)).rejects.toBeInstanceOf(Unavailable);
  await expect(find(next, cooldown + 2)).rejects.toBeInstanceOf(Unavailable);
  await expect(find(first, cooldown + 3)).resolves.toBeDefined();
  source.fetch = serving(first);
  await expect(find(next, 3 * cooldown)).rejects.toEqual(noSuchKey);
});

it("takes a set without keys for an answer", async () => {
  const { find } = keySetFrom(serving());
  await expect(find(first, 0)).rejects.toEqual(noSuchKey);
});

/** A key that only has to have an id. */
function ellipticIdOnly(): KeyPair {
  return { ...first, kid: crypto.randomUUID() };
}
