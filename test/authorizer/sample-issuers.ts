import { KeySet } from "../../functions/authorizer/key-set.ts";
import { callerOf, type Issuer, ownIssuer } from "../../functions/authorizer/verify.ts";
import type { TrustedIssuer } from "../../shared/variables/trusted-issuers.ts";
import { ellipticKey, type KeyPair, rsaKey, signedBy, tokenOf } from "../support/signed.ts";

export const now = new Date("2026-11-21T10:00:00Z");
export const second = now.getTime() / 1_000;

export const ours = ellipticKey();
export const oursToo = ellipticKey();
export const stranger = ellipticKey();
export const theirs = rsaKey();

export const times = {
  timeoutMilliseconds: 2_000,
  cooldownMilliseconds: 1_000,
  retryMilliseconds: 1_000,
  clock: Date.now,
};

export function keySet(...pairs: readonly KeyPair[]): KeySet {
  const keys = pairs.map(({ jwk }) => jwk);
  return new KeySet({ fetch: async () => ({ keys }), ...times, onFailure: () => {}, onUnusable: () => {} });
}

export const own: Issuer = {
  trusted: ownIssuer("https://own.example", "own-audience"),
  own: {
    openSubscription: async (sealed, jti) =>
      sealed.split(` sealed for ${jti}`)[1] === "" ? sealed.split(" ")[0] : undefined,
  },
  keys: keySet(ours, oursToo),
  onMissingSubscription: () => {},
};

export const foreignTrust = {
  issuer: "https://operator.example",
  jwksUri: "https://operator.example/keys",
  audience: "operator-audience",
  algorithms: ["RS256"],
  subscriptionClaim: "line",
} satisfies TrustedIssuer;
export const foreign: Issuer = {
  trusted: foreignTrust,
  keys: keySet(theirs),
  onMissingSubscription: () => {},
};

export const ownHeader = { alg: "ES256", typ: "at+jwt", kid: ours.kid };
export const ownClaims = {
  iss: "https://own.example",
  aud: "own-audience",
  sub: "subject-1",
  client_id: "client-1",
  scope: "qos-profiles:read number-recycling:check",
  iat: second,
  exp: second + 600,
  jti: "token-1",
};

export const foreignHeader = { alg: "RS256", typ: "JWT", kid: theirs.kid };
/** Claims of an application that asks for itself: it is its own subject (RFC 9068 section 2.2). */
export const foreignClaims = {
  iss: foreignTrust.issuer,
  aud: foreignTrust.audience,
  sub: "their-client",
  client_id: "their-client",
  scope: "qos-profiles:read",
  exp: second + 600,
};

/** The other issuer, with these members in its entry. */
export const foreignWith = (members: Partial<TrustedIssuer>): Issuer => ({
  ...foreign,
  trusted: { ...foreignTrust, ...members },
});

export type Members = Readonly<Record<string, unknown>>;

export const verify = (token: string, ...issuers: readonly Issuer[]) =>
  callerOf(token, issuers.length > 0 ? issuers : [own, foreign], now);
/** JSON leaves out members that are undefined: that takes a claim or a header member away. */
export const ownToken = (claims: Members = {}, header: Members = {}) =>
  tokenOf({ ...ownHeader, ...header }, { ...ownClaims, ...claims }, signedBy(ours));
export const foreignToken = (claims: Members = {}, header: Members = {}) =>
  tokenOf({ ...foreignHeader, ...header }, { ...foreignClaims, ...claims }, signedBy(theirs));
