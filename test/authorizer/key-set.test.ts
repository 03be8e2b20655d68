import { expect, test } from "vitest";
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

/** A key set whose source can be changed while it is in use; its fetches take no time unless `elapsed` grows. */
function keySetFrom(fetch: () => Promise<Jwks>, pauses: { cooldown?: number; retry?: number } = {}) {
  const source = { fetch, fetches: 0, failures: 0, elapsed: 0, unusable: [] as string[] };
  const keys = new KeySet({
    fetch: () => {
      source.fetches++;
      return source.fetch();
    },
    timeoutMilliseconds: 2 * second,
    cooldownMilliseconds: pauses.cooldown ?? cooldown,
    retryMilliseconds: pauses.retry ?? cooldown,
    clock: () => source.elapsed,
    onFailure: () => {
      source.failures++;
    },
    onUnusable: (names) => void source.unusable.push(...names),
  });
  const find = ({ kid }: KeyPair, at: number) =>
    keys.keyFor({ alg: "ES256", kid }, { payload: "", signature: "" }, start + at);
  const load = (at: number) => keys.load(start + at);
  return { source, find, load };
}

/** A fetch that is under way until it is told how it ends. */
function pendingFetch() {
  let settle: (outcome: Promise<Jwks>) => void = () => {};
  const pending = new Promise<Jwks>((resolve) => {
    settle = resolve;
  });
  return {
    fetch: () => pending,
    end: async (outcome: () => Promise<Jwks>) => {
      settle(outcome());
      await new Promise(setImmediate);
    },
  };
}

const noSuchKey = expect.objectContaining({ code: "ERR_JWKS_NO_MATCHING_KEY" });

test("the authorizer shares one fetch among fifty concurrent requests", async () => {
  const { source, find } = keySetFrom(serving(first));

  const found = await Promise.all(Array.from({ length: 50 }, () => find(first, 0)));

  expect(found).toHaveLength(50);
  expect(source.fetches).toBe(1);
});

test("the authorizer fetches nothing for four minutes, and then renews its keys before they are stale", async () => {
  const { source, find } = keySetFrom(serving(first));

  await find(first, 0);
  await find(first, 4 * minute);
  expect(source.fetches).toBe(1);
  await find(first, 4 * minute + 1);
  expect(source.fetches).toBe(2);
});

test("the authorizer goes on with its keys when a renewal in the background ends in an error that nobody expects, and reports it", async () => {
  const { source, find } = keySetFrom(serving(first));
  await find(first, 0);
  source.fetch = async () => ({ keys: null }) as unknown as Jwks;

  await find(first, 4 * minute + 1);
  await new Promise(setImmediate);

  expect([source.fetches, source.failures]).toEqual([2, 1]);
  expect(await find(first, 4 * minute + 2)).toBeDefined();
});

test("the authorizer returns a known key at once while its keys are being renewed", async () => {
  const { source, find } = keySetFrom(serving(first));
  await find(first, 0);
  const renewal = pendingFetch();
  source.fetch = renewal.fetch;

  await expect(find(first, 4.5 * minute)).resolves.toBeDefined();
  await expect(find(first, 5 * minute)).resolves.toBeDefined();
  expect(source.fetches).toBe(2);
  await renewal.end(serving(first, next));

  await expect(find(next, 5 * minute + 1)).resolves.toBeDefined();
  expect(source.fetches).toBe(2);
});

test("the authorizer returns a known key at once while the issuer is down for two hours", async () => {
  const { source, find } = keySetFrom(serving(first));
  await find(first, 0);

  for (let at = 4.5 * minute; at < 2 * hour; at += minute / 2) {
    const renewal = pendingFetch();
    source.fetch = renewal.fetch;
    await expect(find(first, at)).resolves.toBeDefined();
    await renewal.end(unreachable);
  }

  expect(source.failures).toBe(source.fetches - 1);
  expect(source.failures).toBeGreaterThan(200);
});

test("the authorizer waits for a fetch after a pause of minutes, and rejects a key that was withdrawn meanwhile", async () => {
  const { source, find } = keySetFrom(serving(first));
  await find(first, 0);
  source.fetch = unreachable;
  await find(first, 6 * minute);
  source.fetch = serving(next);

  await expect(find(first, 12 * minute)).rejects.toEqual(noSuchKey);
});

test("the authorizer fetches again when a fetch was frozen with its execution environment", async () => {
  const { source, find } = keySetFrom(serving(first));
  await find(first, 0);
  const frozen = pendingFetch();
  source.fetch = frozen.fetch;
  await find(first, 4.5 * minute);
  source.elapsed += hour;
  source.fetch = serving(next);

  // The environment thaws with the request after the pause: the old fetch fails at once.
  const found = expect(find(next, 4.5 * minute + hour)).resolves.toBeDefined();
  await frozen.end(unreachable);

  await found;
  expect(source.failures).toBe(0);
  expect(source.fetches).toBe(3);
});

test("the authorizer ignores the keys of a fetch that was frozen with its execution environment", async () => {
  const { source, find } = keySetFrom(serving(first));
  await find(first, 0);
  const frozen = pendingFetch();
  source.fetch = frozen.fetch;
  await find(first, 4.5 * minute);
  source.elapsed += hour;
  source.fetch = serving(next);

  const found = expect(find(first, 4.5 * minute + hour)).rejects.toEqual(noSuchKey);
  await frozen.end(serving(first));

  await found;
});

test("the authorizer rejects a withdrawn key once its keys are five minutes old", async () => {
  const { source, find } = keySetFrom(serving(first, next));
  await find(first, 0);
  source.fetch = serving(next);

  await expect(find(first, 5 * minute + 1)).rejects.toEqual(noSuchKey);
  await expect(find(next, 5 * minute + 1)).resolves.toBeDefined();
});

test("the authorizer returns the last keys for a day while they cannot be renewed, and no longer", async () => {
  const { source, find } = keySetFrom(serving(first));
  await find(first, 0);
  source.fetch = unreachable;

  for (const at of [6 * minute, hour, 12 * hour, 24 * hour]) await find(first, at);
  expect(source.failures).toBe(4);
  await expect(find(first, 24 * hour + 1)).rejects.toBeInstanceOf(Unavailable);
});

test("the authorizer rejects with Unavailable, not as an unknown key, until a fetch has succeeded", async () => {
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

test("the authorizer fetches once per cooldown at most, however many unknown key ids come", async () => {
  const { source, find } = keySetFrom(serving(first));
  await find(first, 0);

  for (let at = second; at < 2 * cooldown; at += second / 10) {
    await expect(find(ellipticIdOnly(), at)).rejects.toEqual(noSuchKey);
  }

  // One at the start, then one in each cooldown that has passed.
  expect(source.fetches).toBe(2);
  await expect(find(first, 2 * cooldown)).resolves.toBeDefined();
});

test("the authorizer finds a newly published key once the cooldown is over", async () => {
  const { source, find } = keySetFrom(serving(first));
  await find(first, 0);
  source.fetch = serving(first, next);

  await expect(find(next, cooldown - 1)).rejects.toEqual(noSuchKey);
  await expect(find(next, cooldown + 1)).resolves.toBeDefined();
  expect(source.fetches).toBe(2);
});

test("the authorizer retries a failed fetch after the retry pause, which is shorter than the cooldown", async () => {
  const { source, find } = keySetFrom(unreachable, { cooldown, retry: second });

  for (const at of [0, 1, 500, 999]) await expect(find(first, at)).rejects.toBeInstanceOf(Unavailable);
  expect(source.fetches).toBe(1);
  source.fetch = serving(first);
  await expect(find(first, second)).resolves.toBeDefined();
  await expect(find(ellipticIdOnly(), 2 * second)).rejects.toEqual(noSuchKey);
  expect(source.fetches).toBe(2);
});

test("the authorizer rejects an unknown key id with Unavailable while the issuer is down, and keeps its keys", async () => {
  const { source, find } = keySetFrom(serving(first));
  await find(first, 0);
  source.fetch = unreachable;

  await expect(find(next, cooldown + 1)).rejects.toBeInstanceOf(Unavailable);
  await expect(find(next, cooldown + 2)).rejects.toBeInstanceOf(Unavailable);
  await expect(find(first, cooldown + 3)).resolves.toBeDefined();
  source.fetch = serving(first);
  await expect(find(next, 3 * cooldown)).rejects.toEqual(noSuchKey);
});

test("the authorizer rejects every key id as unknown when the issuer has no keys", async () => {
  const { find } = keySetFrom(serving());
  await expect(find(first, 0)).rejects.toEqual(noSuchKey);
});

/** A key that only has to have an id. */
function ellipticIdOnly(): KeyPair {
  return { ...first, kid: crypto.randomUUID() };
}

test("keys that were loaded are found without another fetch", async () => {
  const { source, find, load } = keySetFrom(serving(first));

  await load(0);
  await find(first, second);

  expect(source.fetches).toBe(1);
});

test("a set without any key is loaded: an issuer may not have made one yet", async () => {
  await expect(keySetFrom(serving()).load(0)).resolves.toBeUndefined();
});

test.each([
  ["cannot be fetched", unreachable],
  ["has no key that can be used", async (): Promise<Jwks> => ({ keys: [{ kty: "unknown", kid: "one" }] })],
])("a set that %s is not loaded", async (_, fetch) => {
  await expect(keySetFrom(fetch).load(0)).rejects.toBeInstanceOf(Unavailable);
});

test("a set that could not be fetched is loaded once its issuer answers again", async () => {
  const { source, load } = keySetFrom(unreachable);
  await expect(load(0)).rejects.toBeInstanceOf(Unavailable);
  source.fetch = serving(first);

  await expect(load(cooldown)).resolves.toBeUndefined();
});
