import { createPublicKey, type JsonWebKey } from "node:crypto";
import {
  decodeJwt,
  decodeProtectedHeader,
  type JWTPayload,
  errors as joseErrors,
  jwtVerify,
  type ProtectedHeaderParameters,
} from "jose";
import { mayHaveSigned } from "../../shared/tokens/public-key.ts";
import { clockToleranceSeconds } from "../../shared/tokens/token.ts";
import {
  type AssertionAlgorithm,
  type AssertionClaims,
  algorithmOf,
  assertionClaims,
  malformedClaim,
} from "./rules.ts";
import type { ClientKey } from "./tables.ts";

/** An assertion before its signature is verified: nothing that it says is proved. */
export interface UnverifiedAssertion {
  readonly text: string;
  readonly algorithm: AssertionAlgorithm;
  readonly kid: unknown;
  /** The client that it names. */
  readonly issuer: string;
}

/**
 * Reads who claims to have made an assertion.
 * @returns for any other text what is wrong with it, if that is a claim.
 */
export function readAssertion(text: string): UnverifiedAssertion | { readonly problem: string | undefined } {
  const decoded = decode(text);
  const algorithm = algorithmOf(decoded?.header.alg);
  const claims = assertionClaims.safeParse(decoded?.payload);
  if (decoded === undefined || algorithm === undefined) return { problem: undefined };
  if (!claims.success) return { problem: malformedClaim(claims.error) };
  return { text, algorithm, kid: decoded.header.kid, issuer: claims.data.iss };
}

function decode(
  text: string,
): { readonly header: ProtectedHeaderParameters; readonly payload: JWTPayload } | undefined {
  try {
    return { header: decodeProtectedHeader(text), payload: decodeJwt(text) };
  } catch (error) {
    // jose throws a TypeError for a header that is not one.
    if (error instanceof joseErrors.JOSEError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/**
 * Verifies signature, expiry and `nbf` of an assertion with the keys of its client.
 *
 * An unknown client, and one without a key of that type or name, costs a verification too, with a key that nobody has:
 * how long a refusal takes does not tell it from a client with one such key.
 * @returns the claims; `undefined` if none of the keys made the signature, or the assertion is not valid now.
 */
export async function verifyAssertion(
  { text, algorithm, kid }: UnverifiedAssertion,
  keys: readonly ClientKey[],
  now: Date,
): Promise<AssertionClaims | undefined> {
  const candidates = keys.filter((key) => mayHaveSigned(key, algorithm, kid));
  const tried =
    candidates.length > 0 ? candidates : decoys.filter((key) => mayHaveSigned(key, algorithm, undefined));
  for (const jwk of tried) {
    const payload = await verified(text, algorithm, jwk, now);
    if (payload !== undefined && candidates.length > 0) return assertionClaims.parse(payload);
  }
  return undefined;
}

async function verified(
  text: string,
  algorithm: AssertionAlgorithm,
  jwk: ClientKey,
  now: Date,
): Promise<JWTPayload | undefined> {
  try {
    const { payload } = await jwtVerify(text, createPublicKey({ key: jwk as JsonWebKey, format: "jwk" }), {
      algorithms: [algorithm],
      clockTolerance: clockToleranceSeconds,
      currentDate: now,
    });
    return payload;
  } catch (error) {
    if (error instanceof joseErrors.JOSEError) return undefined;
    throw error;
  }
}

/** Public keys, one for each type, whose private halves were never kept. */
const decoys: readonly ClientKey[] = [
  {
    kty: "EC",
    crv: "P-256",
    x: "2FW7m48SbG2Ffqa5hphggLwVdIa5zyFDjS3R80Qwf_U",
    y: "VpzRehpQnrBu5TnF9vuay2CKdW2FlPG91Wp4Jlg5yv8",
  },
  {
    kty: "EC",
    crv: "P-384",
    x: "Ezf_a9LWOm9yoylZcm39gZmSaymTZLaX8S30XRzBq6zNW7rombDejPYGZFc9oojK",
    y: "Yi81eGwi6Sgr2_vt2pF0-Kiow0O6GGBgIk6YuY-mcBlqGPp9Vl-SUe1-VritHXLg",
  },
  {
    kty: "OKP",
    crv: "Ed25519",
    x: "Rc-yj-dI4rEcVdVKKKjW9bxRqYmb-Ey0C2D5cbLWKh8",
  },
  {
    kty: "RSA",
    e: "AQAB",
    n:
      "sO1WMsWQcJcK06Ta67zvDDzaklGue_v-yasn3M2v5kT_M14I0Of_QfFXKrSCmMW7jNUENF-pFOtJo9lQVAf6Xl" +
      "cebr4K4opXu2qoWieNDJ9fnVnfLUV-FGHKgu-zPrBg5gooXRyqenKogkgIIeuLEKWUwuT7FZb-tpdkRunUvq2L" +
      "xwTcRTAa0C7dYiXtOzUtZQxcgI_bA1vJYFty7Vxn0xdUEDp05o2WSiha8bpEVXK8lJKCK5CoCvY-fkHzDSZd8U" +
      "r0x5mW99j0sErNExowVM0VsCHmqbBY4_npiCP9nqcLwiY13t5ghHpvqAwvjFKcVd60WkeLa4zayj9WwHAc4Q",
  },
];
