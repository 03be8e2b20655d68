import { createPublicKey, type KeyObject } from "node:crypto";
import type { TrustedIssuer } from "../variables/trusted-issuers.ts";

type Algorithm = TrustedIssuer["algorithms"][number];

/** A JSON Web Key (RFC 7517), or any other object in its place. */
export type Jwk = Readonly<Record<string, unknown>>;

const ed25519 = { kty: "OKP", crv: "Ed25519" };
const rsa = { kty: "RSA", crv: undefined };

/** The algorithms of signatures, with the keys that each takes (RFC 7518, section 3.1; RFC 8037). */
const keyTypes: Readonly<Record<Algorithm, { readonly kty: string; readonly crv: string | undefined }>> = {
  ES256: { kty: "EC", crv: "P-256" },
  ES384: { kty: "EC", crv: "P-384" },
  ES512: { kty: "EC", crv: "P-521" },
  EdDSA: ed25519,
  Ed25519: ed25519,
  PS256: rsa,
  PS384: rsa,
  PS512: rsa,
  RS256: rsa,
  RS384: rsa,
  RS512: rsa,
};

/** Whether a key may have made a signature: it is of the algorithm's type, and has the `kid` if there is one. */
export function mayHaveSigned(key: Jwk, algorithm: string, kid: unknown): boolean {
  if (!Object.hasOwn(keyTypes, algorithm)) return false;
  const { kty, crv } = keyTypes[algorithm as Algorithm];
  return (
    key.kty === kty &&
    (crv === undefined || key.crv === crv) &&
    (kid === undefined || key.kid === kid) &&
    (key.use ?? "sig") === "sig" &&
    (key.alg ?? algorithm) === algorithm
  );
}

/** Members of a JWK that are secret. */
const secretMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];

/**
 * The public half of a key; `undefined` for anything else, and for a key by which anybody could sign: one with its
 * private half, or of RSA with less than 2,048 bits or an exponent other than an odd one of 65,537 or more.
 */
export function publicKeyOf(jwk: Jwk): KeyObject | undefined {
  if (secretMembers.some((member) => member in jwk)) return undefined;
  try {
    const key = createPublicKey({ key: jwk, format: "jwk" });
    const { modulusLength, publicExponent } = key.asymmetricKeyDetails ?? {};
    if (modulusLength === undefined || publicExponent === undefined) return key;
    // With the exponent 1 anybody can make signatures, and with other small ones in some libraries (FIPS 186-5, A.1.1).
    const isStrong = modulusLength >= 2_048 && publicExponent >= 65_537n && publicExponent % 2n === 1n;
    return isStrong ? key : undefined;
  } catch {
    // Not a key: what else Node.js says of it does not matter.
    return undefined;
  }
}
