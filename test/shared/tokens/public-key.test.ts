import { expect, test } from "vitest";
import { mayHaveSigned } from "../../../shared/tokens/public-key.ts";

const key = { kty: "EC", crv: "P-256", kid: "a" };
const rsa = { kty: "RSA", kid: "r" };

test("a signature may have been made by a key of the algorithm's type alone", () => {
  const algorithmsOf = (jwk: object) =>
    ["ES256", "ES384", "ES512", "EdDSA", "Ed25519", "PS256", "RS512", "HS256", "none", "constructor"].filter(
      (algorithm) => mayHaveSigned({ ...jwk }, algorithm, undefined),
    );
  expect(algorithmsOf(key)).toEqual(["ES256"]);
  expect(algorithmsOf(rsa)).toEqual(["PS256", "RS512"]);
  expect(algorithmsOf({ kty: "OKP", crv: "Ed25519" })).toEqual(["EdDSA", "Ed25519"]);
  expect(algorithmsOf({ kty: "OKP", crv: "X25519" })).toEqual([]);
  expect(algorithmsOf({ kty: "oct" })).toEqual([]);
});

test("a signature with a kid may have been made by the key of that kid alone, one without by every key", () => {
  expect(mayHaveSigned(key, "ES256", "a")).toBe(true);
  expect(mayHaveSigned(key, "ES256", "b")).toBe(false);
  expect(mayHaveSigned(key, "ES256", undefined)).toBe(true);
});

test("a signature was made neither by a key for encryption nor by one for another algorithm", () => {
  expect(mayHaveSigned({ ...key, use: "enc" }, "ES256", "a")).toBe(false);
  expect(mayHaveSigned({ ...rsa, alg: "RS256" }, "PS256", "r")).toBe(false);
  expect(mayHaveSigned({ ...rsa, alg: "RS256" }, "RS256", "r")).toBe(true);
});
