import * as z from "zod/mini";

/** The one algorithm our own tokens are signed with. */
export const tokenAlgorithm = "ES256";

/** The `typ` of our own tokens (RFC 9068). */
export const tokenType = "at+jwt";

/** Clocks of issuer and service may differ by this much. */
export const clockToleranceSeconds = 5;

/** How long a signer keeps the signing key in memory; a retired key stays published for longer. */
export const signingKeyCacheSeconds = 300;

const text = z.string().check(z.minLength(1));

/** The claims of our own access tokens; a subscription makes one 3-legged. */
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
    kty: z.literal("EC"),
    crv: z.literal("P-256"),
    x: base64url,
    y: base64url,
    kid: text,
    alg: z.literal(tokenAlgorithm),
    use: z.literal("sig"),
  })
  .check(z.meta({ id: "PublicKey", description: "A public key that verifies access tokens (RFC 7517)." }));

/** A public key of ours. */
export type PublicJwk = z.infer<typeof publicJwk>;

/** The signing key as the secret holds it: a private JWK on P-256 with its `kid`. */
export const privateJwk = z.object({
  kty: z.literal("EC"),
  crv: z.literal("P-256"),
  x: base64url,
  y: base64url,
  d: base64url,
  kid: text,
});

/** The signing key. */
export type PrivateJwk = z.infer<typeof privateJwk>;

/** The half of a signing key that everybody may see. */
export function publicHalf({ kty, crv, x, y, kid }: PrivateJwk): PublicJwk {
  return { kty, crv, x, y, kid, alg: tokenAlgorithm, use: "sig" };
}
