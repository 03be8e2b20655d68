import { decodeJwt, type JWTPayload, errors as joseErrors, jwtVerify } from "jose";
import * as z from "zod/mini";
import type { Caller } from "../../shared/caller.ts";
import { isSubscriptionId } from "../../shared/devices/subscription.ts";
import type { TrustedIssuer } from "../../shared/environment.ts";
import {
  accessTokenClaims,
  clockToleranceSeconds,
  tokenAlgorithm,
  tokenType,
} from "../../shared/tokens/token.ts";
import type { KeySet } from "./key-set.ts";

/** An issuer whose tokens are accepted: ourselves or an authorization server of the operator. */
export interface Issuer {
  readonly trusted: TrustedIssuer;
  readonly keys: KeySet;
  /** Our own tokens have a stricter header and claims than RFC 7519 asks of others. */
  readonly own: boolean;
  /** Called for a token that is refused only because it may be a person's and names no subscription. */
  readonly onMissingSubscription: () => void | Promise<void>;
}

/**
 * Our own issuer, in the form in which an operator configures another one. A login that is linked to no subscription is
 * an application's.
 */
export function ownIssuer(issuer: string, audience: string): TrustedIssuer {
  return {
    issuer,
    audience,
    jwksUri: "",
    algorithms: [tokenAlgorithm],
    subscriptionClaim: "subscription",
    applicationsOnly: true,
  };
}

/** `typ` values of access tokens; other kinds of token of the same issuer carry others. */
const foreignTypes = ["jwt", tokenType, `application/${tokenType}`];

/** A type is a word in any case; a token without one is taken for an access token. */
function isAccessToken(type: unknown): boolean {
  return type === undefined || (typeof type === "string" && foreignTypes.includes(type.toLowerCase()));
}

const text = z.string().check(z.minLength(1));

/** What another issuer's token must say (RFC 9068, with what authorization servers leave out optional). */
const foreignClaims = z.object({
  sub: text,
  client_id: z.optional(text),
  azp: z.optional(text),
  scope: z._default(z.string(), ""),
  iat: z.optional(z.number()),
  exp: z.number(),
  /** A token that is bound to a key (RFC 7800) is refused: the proof of possession is not checked here. */
  cnf: z.optional(z.never()),
});

/**
 * Verifies a bearer token and says who calls.
 *
 * jose checks signature, algorithm, issuer, `exp` and `nbf`; the claims then go through our own
 * schema, because a future `iat`, an infinite `exp` and a null `sub` pass jose.
 * @returns `undefined` for an invalid token, whatever the reason.
 * @throws {Unavailable} when the issuer's keys are not available.
 */
export async function callerOf(
  token: string,
  issuers: readonly Issuer[],
  now: Date,
): Promise<Caller | undefined> {
  try {
    const named = decodeJwt(token).iss;
    const issuer = issuers.find(({ trusted }) => trusted.issuer === named);
    if (issuer === undefined) return undefined;
    const { trusted, own } = issuer;
    const { payload, protectedHeader } = await jwtVerify(
      token,
      (header, input) => issuer.keys.keyFor(header, input, now.getTime()),
      {
        issuer: trusted.issuer,
        audience: trusted.audience,
        algorithms: [...trusted.algorithms],
        clockTolerance: clockToleranceSeconds,
        currentDate: now,
        requiredClaims: ["sub", "exp"],
        ...(own ? { typ: tokenType } : {}),
      },
    );
    if (!own && !isAccessToken(protectedHeader.typ)) return undefined;
    return await callerFrom(payload, issuer, now);
  } catch (error) {
    if (error instanceof joseErrors.JOSEError) return undefined;
    throw error;
  }
}

async function callerFrom(
  payload: JWTPayload,
  { trusted, own, onMissingSubscription }: Issuer,
  now: Date,
): Promise<Caller | undefined> {
  const claims = own ? accessTokenClaims.safeParse(payload).data : foreignClaims.safeParse(payload).data;
  if (claims === undefined || isFuture(claims.iat, now)) return undefined;
  const subscription =
    trusted.subscriptionClaim === undefined ? undefined : payload[trusted.subscriptionClaim];
  if (subscription !== undefined && !isSubscriptionId(subscription)) return undefined;
  const client = claims.client_id ?? ("azp" in claims ? claims.azp : undefined);
  if (subscription === undefined && !isApplication(claims.sub, client, trusted)) {
    await onMissingSubscription();
    return undefined;
  }
  const name = client ?? claims.sub;
  return {
    client: own ? name : `${trusted.issuer} ${name}`,
    scopes: [...new Set(claims.scope.split(" ").filter(Boolean))],
    expires: claims.exp,
    ...(subscription === undefined ? {} : { subscription }),
  };
}

/**
 * Whether a token is for this service. `aud` must say so wherever it is present (RFC 7519 section 4.1.3), also beside
 * another claim that the issuer uses in its place.
 */
function isApplication(subject: string, client: string | undefined, trusted: TrustedIssuer): boolean {
  return trusted.applicationsOnly === true || subject === client;
}

function isFuture(issuedAt: number | undefined, now: Date): boolean {
  return issuedAt !== undefined && issuedAt > now.getTime() / 1_000 + clockToleranceSeconds;
}
