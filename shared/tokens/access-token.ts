import { randomUUID } from "node:crypto";
import { importJWK, SignJWT } from "jose";
import { secretText } from "../aws/secrets.ts";
import { setting } from "../environment.ts";
import { Unavailable } from "../errors.ts";
import { SIGNING_KEY_SECRET_ARN } from "../variables/signing-key-secret-arn.ts";
import { TOKEN_AUDIENCE } from "../variables/token-audience.ts";
import { TOKEN_ISSUER } from "../variables/token-issuer.ts";
import { TOKEN_LIFETIME_SECONDS } from "../variables/token-lifetime-seconds.ts";
import { sealSubscription } from "./sealed-subscription.ts";
import { publish } from "./signing-keys.ts";
import {
  type AccessTokenClaims,
  keysFrom,
  keysIn,
  publicHalf,
  type SigningKey,
  signingKeyCacheSeconds,
  signingSecret,
  tokenAlgorithm,
  tokenType,
} from "./token.ts";

interface Signer extends Pick<SigningKey, "kid" | "signsFrom"> {
  readonly key: Awaited<ReturnType<typeof importJWK>>;
}

const secondsOfDay = 86_400;

/** The cached keys of the secret, and when they were read. */
let held: { readonly signers: readonly Signer[]; readonly readAt: number } | undefined;

/** An access token, and how long its key has signed; absent for a key of an operator that does not say since when. */
interface IssuedToken {
  readonly token: string;
  readonly keyAgeDays: number | undefined;
}

/** For whom a token is issued. */
interface TokenHolder {
  readonly client: string;
  /** The sealed subscription unless given. */
  readonly subject?: string | undefined;
  /** Scopes, separated by spaces. */
  readonly scope: string;
  /** Makes the token 3-legged; the token has it sealed. */
  readonly subscription?: string | undefined;
}

/** Issues an access token of ours, signed with the key that signs now. */
export async function accessToken(
  { client, subject, scope, subscription }: TokenHolder,
  now: Date,
  signal: AbortSignal,
): Promise<IssuedToken> {
  const jti = randomUUID();
  const [{ kid, key, signsFrom }, sealed] = await Promise.all([
    signerAt(now, signal),
    subscription === undefined ? undefined : sealSubscription(subscription, jti, signal),
  ]);
  const issuedAt = Math.floor(now.getTime() / 1_000);
  const claims: AccessTokenClaims = {
    iss: setting(TOKEN_ISSUER),
    aud: setting(TOKEN_AUDIENCE),
    sub: subject ?? sealed ?? client,
    client_id: client,
    scope,
    iat: issuedAt,
    exp: issuedAt + setting(TOKEN_LIFETIME_SECONDS),
    jti,
    ...(sealed === undefined ? {} : { subscription: sealed }),
  };
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: tokenAlgorithm, typ: tokenType, kid })
    .sign(key);
  const keyAgeDays = signsFrom === undefined ? undefined : Math.max(0, issuedAt - signsFrom) / secondsOfDay;
  return { token, keyAgeDays };
}

async function signerAt(now: Date, signal: AbortSignal): Promise<Signer> {
  if (held === undefined || now.getTime() - held.readAt >= signingKeyCacheSeconds * 1_000) {
    held = { signers: await readSigners(now, signal), readAt: now.getTime() };
  }
  const [signer] = keysFrom(held.signers, now);
  if (signer === undefined) throw new Error("no key signs");
  return signer;
}

/** Reads the keys of the secret and publishes them before their first use, also those of an operator's own secret. */
async function readSigners(now: Date, signal: AbortSignal): Promise<readonly Signer[]> {
  const keys = keysFrom(keysOf(await secretText(setting(SIGNING_KEY_SECRET_ARN), signal)), now);
  await Promise.all(keys.map((key) => publish(publicHalf(key), now, signal)));
  return await Promise.all(
    keys.map(async (jwk) => {
      const { kid, signsFrom } = jwk;
      return { kid, signsFrom, key: await importJWK(jwk, tokenAlgorithm) };
    }),
  );
}

/** @throws {Unavailable} when the secret holds no key: its first rotation has not ended yet. */
function keysOf(text: string): readonly SigningKey[] {
  try {
    return keysIn(signingSecret.parse(JSON.parse(text)));
  } catch {
    // The parsers' own errors would disclose the secret.
    throw new Unavailable("signing key", "none in the secret");
  }
}
