import { decodeJwt, type JWTPayload, errors as joseErrors, jwtVerify } from "jose";
import * as z from "zod/mini";
import type { Caller } from "../../shared/caller.ts";
import { isSubscriptionId } from "../../shared/devices/subscription.ts";
import { purposeForm } from "../../shared/tokens/purpose.ts";
import {
  accessTokenClaims,
  clockToleranceSeconds,
  tokenAlgorithm,
  tokenType,
} from "../../shared/tokens/token.ts";
import type { TrustedIssuer } from "../../shared/variables/trusted-issuers.ts";
import type { KeySet } from "./key-set.ts";

/** What only our own tokens need. */
interface OwnTokens {
  /** Opens the subscription of a token; `undefined` if it was not sealed for the token's `jti`. */
  readonly openSubscription: (sealed: string, jti: string) => Promise<string | undefined>;
}

/** An issuer whose tokens are accepted: ourselves or an authorization server of the operator. */
export interface Issuer {
  readonly trusted: TrustedIssuer;
  readonly keys: KeySet;
  /** Ours alone: our tokens have a stricter header and claims than RFC 7519 asks of others, and seal the subscription. */
  readonly own?: OwnTokens | undefined;
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

/** A claim of a subscription that names none. */
const invalid = Symbol("invalid");

const text = z.string().check(z.minLength(1));

/** What the token of any issuer must say. */
const commonClaims = z.object({
  sub: text,
  client_id: z.optional(text),
  azp: z.optional(text),
  iat: z.optional(z.number()),
  exp: z.number(),
  /** A token that is bound to a key (RFC 7800) is refused: the proof of possession is not checked here. */
  cnf: z.optional(z.never()),
});

/** Authorization servers write scopes as text (RFC 9068) or as a list; a token without the claim has none. */
const writtenScopes = z._default(z.union([z.string(), z.array(z.string())]), "");

/**
 * Verifies a bearer token and says who calls.
 *
 * jose checks signature, algorithm, issuer, `exp` and `nbf`; the claims then go through our own
 * schema, because a future `iat`, an infinite `exp` and a null `sub` pass jose.
 * @returns `undefined` for an invalid token, for any reason.
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
    if (issuer === undefined || !hasOneSpelling(token)) return undefined;
    const { trusted, own } = issuer;
    const { payload, protectedHeader } = await jwtVerify(
      token,
      (header, input) => issuer.keys.keyFor(header, input, now.getTime()),
      {
        issuer: trusted.issuer,
        algorithms: [...trusted.algorithms],
        clockTolerance: clockToleranceSeconds,
        currentDate: now,
        requiredClaims: ["sub", "exp"],
        ...(own === undefined ? {} : { typ: tokenType }),
      },
    );
    if (own === undefined && !isAccessToken(protectedHeader.typ)) return undefined;
    return await callerFrom(payload, issuer, now);
  } catch (error) {
    if (error instanceof joseErrors.JOSEError) return undefined;
    throw error;
  }
}

/**
 * Whether the unused last bits of a token's signature are zero. Decoders ignore them, so a token would have up to 16
 * spellings, each with a place of its own in API Gateway's cache and in the firewall's count. The other parts are signed
 * as they are spelled.
 */
function hasOneSpelling(token: string): boolean {
  const signature = token.slice(token.lastIndexOf(".") + 1);
  return Buffer.from(signature, "base64url").toString("base64url") === signature;
}

async function callerFrom(payload: JWTPayload, issuer: Issuer, now: Date): Promise<Caller | undefined> {
  const { trusted, own, onMissingSubscription } = issuer;
  if (own !== undefined && !accessTokenClaims.safeParse(payload).success) return undefined;
  const claims = commonClaims.safeParse(payload).data;
  if (claims === undefined || isFuture(claims.iat, now) || !isForUs(payload, trusted)) return undefined;
  const scopes = scopesIn(payload, trusted);
  if (scopes === undefined) return undefined;
  const subscription = await subscriptionIn(payload, issuer);
  if (subscription === invalid) return undefined;
  const named =
    trusted.clientClaim === undefined ? undefined : text.safeParse(claimIn(payload, trusted.clientClaim));
  if (named?.success === false) return undefined;
  const clients = [named?.data, claims.client_id, claims.azp].filter((client) => client !== undefined);
  if (subscription === undefined && !isApplication(payload, clients, trusted)) {
    await onMissingSubscription();
    return undefined;
  }
  // Under the person's own `sub`, the caller would be one that an erasure of the person does not know.
  const client = clients[0] ?? (subscription === undefined ? claims.sub : undefined);
  if (client === undefined) return undefined;
  const purpose = purposeAmong(scopes);
  return {
    client: own === undefined ? `${trusted.issuer} ${client}` : client,
    scopes,
    expires: claims.exp,
    ...(subscription === undefined ? {} : { subscription }),
    ...(purpose === undefined ? {} : { purpose }),
  };
}

/** The subscription that a token names, `undefined` without the claim. */
async function subscriptionIn(
  payload: JWTPayload,
  { trusted: { subscriptionClaim }, own }: Issuer,
): Promise<string | undefined | typeof invalid> {
  const claim = subscriptionClaim === undefined ? undefined : claimIn(payload, subscriptionClaim);
  if (claim === undefined) return undefined;
  const named = own === undefined ? claim : await own.openSubscription(String(claim), String(payload.jti));
  return isSubscriptionId(named) ? named : invalid;
}

/** The purposes among the scopes of a token, separated by spaces. */
function purposeAmong(scopes: readonly string[]): string | undefined {
  return scopes.filter((scope) => purposeForm.test(scope)).join(" ") || undefined;
}

/** A claim of the token itself: an operator may name one `constructor`, which every object inherits. */
function claimIn(payload: JWTPayload, name: string): unknown {
  return Object.hasOwn(payload, name) ? payload[name] : undefined;
}

/**
 * Whether a token is for this service. `aud` must say so wherever it is present (RFC 7519 section 4.1.3), also next to
 * another claim that the issuer uses instead.
 */
function isForUs(payload: JWTPayload, { audience, audienceClaim = "aud" }: TrustedIssuer): boolean {
  const names = [audience].flat();
  const namesUs = (claim: unknown) => [claim].flat().some((one) => names.some((name) => name === one));
  const aud = claimIn(payload, "aud");
  return namesUs(claimIn(payload, audienceClaim)) && (aud === undefined || namesUs(aud));
}

/**
 * The scopes of this service, each once and without the issuer's prefix, and purposes, which need no prefix; `undefined`
 * if the claim is malformed.
 */
function scopesIn(
  payload: JWTPayload,
  { scopeClaim: name = "scope", scopePrefix = "" }: TrustedIssuer,
): string[] | undefined {
  const claim = writtenScopes.safeParse(claimIn(payload, name)).data;
  const written = typeof claim === "string" ? claim.split(" ") : claim;
  const scopes = written?.flatMap((scope) => {
    if (scope.startsWith(scopePrefix)) return [scope.slice(scopePrefix.length)];
    return purposeForm.test(scope) ? [scope] : [];
  });
  // The scopes of a caller are passed on as text with spaces between them: one of a list must not become two.
  return scopes && [...new Set(scopes.filter((scope) => scope !== "" && !scope.includes(" ")))];
}

/**
 * Whether a token is an application's own, by the one rule of its issuer's entry: it has the claim that only
 * applications' tokens have, or the issuer has no others, or its subject is its client (RFC 9068 section 2.2). Any other
 * token may be a person's, and so may one that names several clients.
 */
function isApplication(
  payload: JWTPayload,
  clients: readonly string[],
  { applicationsOnly, applicationWhen }: TrustedIssuer,
): boolean {
  if (new Set(clients).size > 1) return false;
  if (applicationWhen !== undefined)
    return claimIn(payload, applicationWhen.claim) === applicationWhen.equals;
  return applicationsOnly === true || payload.sub === clients[0];
}

function isFuture(issuedAt: number | undefined, now: Date): boolean {
  return issuedAt !== undefined && issuedAt > now.getTime() / 1_000 + clockToleranceSeconds;
}
