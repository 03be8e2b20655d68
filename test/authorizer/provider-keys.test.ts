import { afterAll, beforeAll, expect, test } from "vitest";
import { fetchKeys } from "../../functions/authorizer/fetch-keys.ts";
import { KeySet } from "../../functions/authorizer/key-set.ts";
import { callerOf } from "../../functions/authorizer/verify.ts";
import { Unavailable } from "../../shared/errors.ts";
import { type OidcProvider, openOidcProvider } from "../support/oidc-provider.ts";

let provider: OidcProvider;
beforeAll(async () => {
  provider = await openOidcProvider({ applications: ["maps"], apps: [], subscriptions: {} });
});
afterAll(() => provider.close());

const newToken = () => provider.tokenOfApplication({ client: "maps", scope: "qos-profiles:read" });

const seconds = 1_000;
const hours = 3_600_000;
const failures: unknown[] = [];
/** The authorizer's own parts, with a clock of ours, which is ahead so that no token is of its future. */
const authorizer = async () => {
  const start = Date.now() + 60 * seconds;
  const { issuer, jwks_uri: jwksUri } = await provider.discover();
  const keys = new KeySet({
    fetch: () => fetchKeys(jwksUri),
    timeoutMilliseconds: 2_000,
    cooldownMilliseconds: 10_000,
    retryMilliseconds: 10_000,
    clock: Date.now,
    onFailure: (error) => {
      failures.push(error);
    },
  });
  const trusted = { issuer, jwksUri, audience: "network-capabilities", algorithms: ["RS256" as const] };
  return (token: string, after: number) =>
    callerOf(
      token,
      [{ trusted, own: false, keys, onMissingSubscription: () => {} }],
      new Date(start + after),
    );
};

test("the authorizer accepts tokens for a day while the provider is down, and again once it is back", async () => {
  const callerAfter = await authorizer();
  const token = await newToken();
  expect(await callerAfter(token, 0)).toMatchObject({ client: `${provider.issuer} maps` });
  provider.setDown(true);
  try {
    for (const after of [301 * seconds, hours, 24 * hours - 1_000]) {
      expect(await callerAfter(token, after)).toBeDefined();
    }
    expect(failures.length).toBeGreaterThan(0);
    await expect(callerAfter(token, 25 * hours)).rejects.toBeInstanceOf(Unavailable);
  } finally {
    provider.setDown(false);
  }
  expect(await callerAfter(token, 25 * hours + 11 * seconds)).toBeDefined();
});

test("the authorizer rejects an unknown key with Unavailable while the provider is down, and accepts it afterwards", async () => {
  const callerAfter = await authorizer();
  expect(await callerAfter(await newToken(), 0)).toBeDefined();
  provider.rotate("kept");
  const fresh = await newToken();
  provider.setDown(true);
  try {
    await expect(callerAfter(fresh, 20 * seconds)).rejects.toBeInstanceOf(Unavailable);
  } finally {
    provider.setDown(false);
  }
  expect(await callerAfter(fresh, 31 * seconds)).toBeDefined();
});

test("the authorizer fetches the keys for an unknown key id only ten seconds after the last fetch", async () => {
  const callerAfter = await authorizer();
  expect(await callerAfter(await newToken(), 0)).toBeDefined();
  provider.rotate("kept");
  const fresh = await newToken();
  const before = provider.keyFetches();

  expect(await callerAfter(fresh, 9 * seconds)).toBeUndefined();
  expect(provider.keyFetches()).toBe(before);
  expect(await callerAfter(fresh, 10 * seconds)).toBeDefined();
  expect(provider.keyFetches()).toBe(before + 1);
});

test("the authorizer accepts a withdrawn key for five minutes and no longer", async () => {
  const callerAfter = await authorizer();
  const old = await newToken();
  expect(await callerAfter(old, 0)).toBeDefined();
  provider.rotate("withdrawn");

  expect(await callerAfter(old, 299 * seconds)).toBeDefined();
  expect(await callerAfter(old, 301 * seconds)).toBeUndefined();
  expect(await callerAfter(await newToken(), 302 * seconds)).toBeDefined();
});
