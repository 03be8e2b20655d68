import * as z from "zod/mini";
import { described } from "../schemas.ts";

/** The algorithm that signs our own tokens. */
export const tokenAlgorithm = "ES256";

/** The `typ` of our own tokens (RFC 9068). */
export const tokenType = "at+jwt";

/** Allowed difference between the clocks of issuer and service. */
export const clockToleranceSeconds = 5;

/** How long a signer caches the signing keys; a retired key stays published for longer. */
export const signingKeyCacheSeconds = 300;

/** How long verifiers of our tokens, the authorizer and other services, may cache the public keys. */
export const publicKeyCacheSeconds = 300;

/**
 * The minimum time between the authorizer's fetches of our own keys for unknown key ids. A key that signs as soon as it
 * is published, as only the first one does, may be unknown for this long.
 */
export const ownKeysCooldownSeconds = 5;

/** How long after its creation a new key begins to sign: by then every cache of the public keys contains it. */
export const firstUseSeconds = publicKeyCacheSeconds + 120;

const text = z.string().check(z.minLength(1));

/** The claims of our own access tokens; a token with a subscription, which is sealed, is 3-legged. */
export const accessTokenClaims = z.object({
  iss: text,
  aud: text,
  sub: text,
  client_id: text,
  scope: z.string(),
  iat: z.number(),
  exp: z.number(),
  jti: text,
  subscription: z.optional(text),
});

/** The claims of an access token of ours. */
export type AccessTokenClaims = z.infer<typeof accessTokenClaims>;

const base64url = z.string().check(z.regex(/^[A-Za-z0-9_-]{43}$/));

/** A public key of ours as it is stored and published (RFC 7517). */
export const publicJwk = z
  .object({
    kty: described(z.literal("EC"), "The family of the key: elliptic curve."),
    crv: described(z.literal("P-256"), "The curve."),
    x: described(base64url, "The x coordinate, base64url."),
    y: described(base64url, "The y coordinate, base64url."),
    kid: described(text, "The name of the key; tokens have it in their header."),
    alg: described(z.literal(tokenAlgorithm), "The algorithm of the signatures."),
    use: described(z.literal("sig"), "What the key is for: signatures."),
  })
  .check(z.meta({ id: "PublicKey", description: "A public key that verifies access tokens (RFC 7517)." }));

/** A public key of ours. */
export type PublicJwk = z.infer<typeof publicJwk>;

/** A signing key: a private JWK on P-256 with its `kid`. */
export const privateJwk = z.object({
  kty: z.literal("EC"),
  crv: z.literal("P-256"),
  x: base64url,
  y: base64url,
  d: base64url,
  kid: text,
});

/** A signing key. */
export type PrivateJwk = z.infer<typeof privateJwk>;

const signingKey = z.extend(privateJwk, {
  /** Epoch second before which an earlier key signs, if there is one. */
  signsFrom: z.optional(z.number()),
});

/** A signing key, and the time from which it signs. */
export type SigningKey = z.infer<typeof signingKey>;

/** The content of the secret: the newest key, and in `before` the keys that sign until it takes over. */
export const signingSecret = z.extend(signingKey, { before: z.optional(z.array(signingKey)) });

/** The content of the secret. */
export type SigningSecret = z.infer<typeof signingSecret>;

/** All keys of a secret. */
export function keysIn({ before = [], ...newest }: SigningSecret): SigningKey[] {
  return [...before, newest];
}

/** The key that signs at a point in time, followed by later ones; earlier keys are left out. */
export function keysFrom<Key extends Pick<SigningKey, "signsFrom">>(keys: readonly Key[], now: Date): Key[] {
  const inOrder = keys.toSorted((one, other) => (one.signsFrom ?? 0) - (other.signsFrom ?? 0));
  const signing = inOrder.findLastIndex(({ signsFrom = 0 }) => signsFrom * 1_000 <= now.getTime());
  return inOrder.slice(Math.max(signing, 0));
}

/** The public half of a signing key. */
export function publicHalf({ kty, crv, x, y, kid }: PrivateJwk): PublicJwk {
  return { kty, crv, x, y, kid, alg: tokenAlgorithm, use: "sig" };
}
