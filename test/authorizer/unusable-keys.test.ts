import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { fetchKeys } from "../../functions/authorizer/fetch-keys.ts";
import { KeySet } from "../../functions/authorizer/key-set.ts";
import type { Issuer } from "../../functions/authorizer/verify.ts";
import { ellipticKey, type KeyPair, rsaKey, serverOfTest, signedBy, tokenOf } from "../support/signed.ts";
import { foreign, foreignClaims, foreignTrust, times, verify } from "./sample-issuers.ts";

const good = ellipticKey("good");
const other = ellipticKey("other");
const withRsa = rsaKey("other");
const weak = generateKeyPairSync("rsa", { modulusLength: 1_024 });
const { x, y } = other.jwk;

/** An issuer whose server publishes this text, and the names of the keys that it reported. */
async function issuerOf(text: string): Promise<{ issuer: Issuer; reported: string[] }> {
  const server = await serverOfTest((_, response) => response.end(text));
  const reported: string[] = [];
  const keys = new KeySet({
    fetch: () => fetchKeys(server.url),
    ...times,
    onFailure: (error) => expect.fail(String(error)),
    onUnusable: (names) => void reported.push(...names),
  });
  const trusted = { ...foreignTrust, algorithms: ["ES256", "EdDSA", "RS256"] as const };
  return {
    issuer: { ...foreign, trusted: { ...trusted, algorithms: [...trusted.algorithms] }, keys },
    reported,
  };
}

/** Stands for lists in lists, which JSON has and nothing here could write. */
const nested = "nested 60,000 deep";
const lists = "[".repeat(60_000) + "]".repeat(60_000);

const publishing = (...keys: readonly unknown[]) =>
  issuerOf(JSON.stringify({ keys }).replaceAll(JSON.stringify(nested), lists));

const tokenBy = (pair: KeyPair, header: object = {}) =>
  tokenOf({ alg: pair.jwk.alg, kid: pair.kid, ...header }, foreignClaims, signedBy(pair));

const isAccepted = async (token: string, issuer: Issuer) => (await verify(token, issuer)) !== undefined;

/** Members of a key set that cannot be used, and the names by which they are reported. */
const unusable: Readonly<Record<string, readonly [jwk: unknown, reported: readonly string[]]>> = {
  "a key without kty": [{ ...other.jwk, kty: undefined }, ["other"]],
  "a key whose kty is a number": [{ ...other.jwk, kty: 1 }, ["other"]],
  "a key of an unknown kty": [{ ...other.jwk, kty: "QUANTUM" }, ["other"]],
  "a key on an unknown curve": [{ ...other.jwk, crv: "P-255" }, ["other"]],
  "a key without a curve": [{ ...other.jwk, crv: undefined }, ["other"]],
  "a key whose x is too short": [{ ...other.jwk, x: "AAAA" }, ["other"]],
  "a key whose point is not on its curve": [{ ...other.jwk, x: y, y: x }, ["other"]],
  "a key without y": [{ ...other.jwk, y: undefined }, ["other"]],
  "a key whose x is a number": [{ ...other.jwk, x: 5 }, ["other"]],
  "a key with its private half": [{ ...other.jwk, ...other.privateKey.export({ format: "jwk" }) }, ["other"]],
  "a symmetric key": [{ kty: "oct", k: "c2VjcmV0", kid: "other", alg: "HS256" }, ["other"]],
  "a key of RSA with 1,024 bits": [
    { ...weak.publicKey.export({ format: "jwk" }), kid: "other", alg: "RS256" },
    ["other"],
  ],
  "a key of RSA with the exponent 1": [{ ...withRsa.jwk, e: "AQ" }, ["other"]],
  "a key of Ed25519 with 31 bytes": [
    { kty: "OKP", crv: "Ed25519", x: Buffer.alloc(31).toString("base64url"), kid: "other" },
    ["other"],
  ],
  "a member that is null": [null, ["no. 1"]],
  "a member that is text": ["key", ["no. 1"]],
  "a member that is a list": [[other.jwk], ["no. 1"]],
  "an empty member": [{}, ["no. 1"]],
  "a key for encryption": [{ ...other.jwk, use: "enc" }, []],
  "a key that is for signing alone": [{ ...other.jwk, key_ops: ["sign"] }, []],
  "a key whose key_ops are text": [{ ...other.jwk, key_ops: "verify" }, ["other"]],
  "a key whose use is nested 60,000 deep": [{ ...other.jwk, use: nested }, ["other"]],
  "a key whose x5c is nested 60,000 deep": [{ ...other.jwk, x5c: nested }, ["other"]],
  "a key for another algorithm": [{ ...other.jwk, alg: "ES384" }, []],
  "a key whose kid is a number": [{ ...other.jwk, kid: 1 }, ["no. 1"]],
  "a key whose kid is nested 60,000 deep": [{ ...other.jwk, kid: nested }, ["no. 1"]],
};

test.each(Object.entries(unusable))(
  "the authorizer ignores %s: 200 to tokens of the good key, 401 to others, and one report",
  async (_, [jwk, reported]) => {
    const { issuer, reported: names } = await publishing(jwk, good.jwk);

    expect(await isAccepted(tokenBy(good), issuer)).toBe(true);
    for (const pair of [other, withRsa, ellipticKey()]) {
      expect(await isAccepted(tokenBy(pair), issuer)).toBe(false);
    }
    expect(names).toEqual(reported);
  },
);

test("the authorizer answers 401, not 503, to every token of an issuer that publishes unusable keys alone", async () => {
  const { issuer, reported } = await publishing(null, { kid: "b" });

  expect(await isAccepted(tokenBy(good), issuer)).toBe(false);
  expect(reported).toEqual(["no. 1", "b"]);
});

test("the authorizer accepts tokens of a key that is published twice, or seven times next to another of its kid", async () => {
  const sameName = { ...other.jwk, kid: good.kid };
  const twice = await publishing(good.jwk, good.jwk);
  const often = await publishing(...Array(7).fill(sameName), { ...good.jwk, note: "newer" });

  for (const { issuer, reported } of [twice, often]) {
    expect(await isAccepted(tokenBy(good), issuer)).toBe(true);
    expect(await isAccepted(tokenBy(other, { kid: "other" }), issuer)).toBe(false);
    expect(reported).toEqual([]);
  }
  expect(await isAccepted(tokenBy(other, { kid: good.kid }), often.issuer)).toBe(true);
});

test("the authorizer tries the first five of different keys with one kid, and no sixth", async () => {
  const pairs = Array.from({ length: 6 }, () => ellipticKey("same"));
  const { issuer } = await publishing(...pairs.map(({ jwk }) => jwk));

  const accepted = [];
  for (const pair of pairs) accepted.push(await isAccepted(tokenBy(pair), issuer));

  expect(accepted).toEqual([true, true, true, true, true, false]);
  expect(await isAccepted(tokenBy(ellipticKey("same")), issuer)).toBe(false);
});

test("the authorizer takes, of two keys with one kid, the one of the token's algorithm", async () => {
  const { issuer } = await publishing(withRsa.jwk, other.jwk);

  expect(await isAccepted(tokenBy(withRsa), issuer)).toBe(true);
  expect(await isAccepted(tokenBy(other), issuer)).toBe(true);
});

test("the authorizer tries every key on a token without a kid, but on one with a kid no key without", async () => {
  const { kid: _, ...unnamed } = good.jwk;
  for (const keys of [[unnamed], [other.jwk, unnamed]]) {
    const { issuer } = await publishing(...keys);
    expect(await isAccepted(tokenBy(good, { kid: undefined }), issuer)).toBe(true);
    expect(await isAccepted(tokenBy(good), issuer)).toBe(false);
    expect(await isAccepted(tokenBy(ellipticKey(), { kid: undefined }), issuer)).toBe(false);
  }
});

test("the authorizer reads a key set that begins with a byte order mark", async () => {
  const { issuer } = await issuerOf(`\uFEFF${JSON.stringify({ keys: [good.jwk] })}`);
  expect(await isAccepted(tokenBy(good), issuer)).toBe(true);
});

test("the authorizer finds a key among a thousand", async () => {
  const { issuer } = await publishing(
    ...Array.from({ length: 999 }, (_, n) => ({ ...other.jwk, kid: `${n}` })),
    good.jwk,
  );
  expect(await isAccepted(tokenBy(good), issuer)).toBe(true);
});
