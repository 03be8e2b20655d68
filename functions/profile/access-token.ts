import { randomUUID } from "node:crypto";
import { importJWK, SignJWT } from "jose";
import { secretText } from "../../shared/aws/secrets.ts";
import { setting } from "../../shared/environment.ts";
import { Unavailable } from "../../shared/errors.ts";
import { publish } from "../../shared/signing-keys.ts";
import {
  type AccessTokenClaims,
  type PrivateJwk,
  privateJwk,
  publicHalf,
  signingKeyCacheSeconds,
  tokenAlgorithm,
  tokenType,
} from "../../shared/token.ts";
import type { ProfileRecord } from "./contract.ts";

interface Signer {
  readonly kid: string;
  readonly key: Awaited<ReturnType<typeof importJWK>>;
  readonly readAt: number;
}

let signer: Signer | undefined;

/**
 * Issues an access token for a login (behaviour section 4).
 *
 * The scopes are the words of the profile's permissions; the subscription makes the token 3-legged.
 */
export async function accessToken(profile: ProfileRecord, now: Date, signal: AbortSignal): Promise<string> {
  const { kid, key } = await currentSigner(now, signal);
  const issuedAt = Math.floor(now.getTime() / 1_000);
  const claims: AccessTokenClaims = {
    iss: setting("TOKEN_ISSUER"),
    aud: setting("TOKEN_AUDIENCE"),
    sub: String(profile.ID),
    client_id: String(profile.ID),
    scope: profile.Permissions ?? "",
    iat: issuedAt,
    exp: issuedAt + setting("TOKEN_LIFETIME_SECONDS"),
    jti: randomUUID(),
    ...(profile.subscription === undefined ? {} : { subscription: profile.subscription }),
  };
  return await new SignJWT(claims).setProtectedHeader({ alg: tokenAlgorithm, typ: tokenType, kid }).sign(key);
}

/** @throws {Unavailable} when the secret holds no key: its first rotation has not ended yet. */
function keyIn(text: string): PrivateJwk {
  try {
    return privateJwk.parse(JSON.parse(text));
  } catch {
    // The parsers' own errors would say what is in the secret.
    throw new Unavailable("signing key", "none in the secret");
  }
}

/** The key is published before its first use, also when the secret was made by somebody else. */
async function currentSigner(now: Date, signal: AbortSignal): Promise<Signer> {
  if (signer !== undefined && now.getTime() - signer.readAt < signingKeyCacheSeconds * 1_000) return signer;
  const jwk = keyIn(await secretText(setting("SIGNING_KEY_SECRET_ARN"), signal));
  await publish(publicHalf(jwk), signal);
  signer = { kid: jwk.kid, key: await importJWK(jwk, tokenAlgorithm), readAt: now.getTime() };
  return signer;
}
