import * as z from "zod/mini";
import { phoneNumber } from "../../shared/schemas.ts";
import { clockToleranceSeconds } from "../../shared/tokens/token.ts";
import { maxAssertionSeconds } from "./limits.ts";
import type { ClientRecord, Grant } from "./tables.ts";

/** The grant for a subscriber whom the client names (RFC 7523, section 2.1). */
export const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer" satisfies Grant;

/** What a JWT that authenticates a client is called (RFC 7523, section 2.2). */
export const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/** The algorithms that may sign an assertion. */
export const assertionAlgorithms = ["ES256", "ES384", "EdDSA", "PS256", "RS256"] as const;

/** An algorithm that may sign an assertion. */
export type AssertionAlgorithm = (typeof assertionAlgorithms)[number];

/** The algorithm of a JWT's header, unless it may not sign assertions. */
export function algorithmOf(alg: unknown): AssertionAlgorithm | undefined {
  return assertionAlgorithms.find((algorithm) => algorithm === alg);
}

const text = z.string().check(z.minLength(1), z.maxLength(256));

/** What an assertion must say (RFC 7523, section 3). An array with one audience is that audience. */
export const assertionClaims = z.object({
  iss: text,
  sub: text,
  aud: z.union([z.string(), z.tuple([z.string()])]),
  exp: z.number(),
  iat: z.optional(z.number()),
  jti: text,
  scope: z.optional(z.string()),
});

const textForm = "text of 1 to 256 characters";
const claimForms: Readonly<Record<string, string>> = {
  iss: textForm,
  sub: textForm,
  aud: "one text, not several",
  exp: "a number of seconds",
  iat: "a number of seconds",
  jti: textForm,
  scope: "text",
};

/** What is wrong with claims that `assertionClaims` refuses, whoever their client is. */
export function malformedClaim({ issues }: z.core.$ZodError): string {
  const claim = String(issues[0]?.path[0]);
  return `The ${claim} of the assertion must be ${claimForms[claim]}.`;
}

/** The claims of an assertion. */
export type AssertionClaims = z.infer<typeof assertionClaims>;

/**
 * What is wrong with the claims of an assertion whose signature is valid; `undefined` if nothing is. Whether it has
 * expired or is not yet valid was checked with the signature.
 * @param audiences the names of this token endpoint.
 */
export function problemIn(
  { aud, exp, iat }: AssertionClaims,
  audiences: readonly string[],
  now: Date,
): string | undefined {
  const seconds = now.getTime() / 1_000;
  if (!audiences.includes(String(aud))) return "The aud of the assertion must be the issuer, alone.";
  if (iat !== undefined && iat > seconds + clockToleranceSeconds) return "The iat of the assertion is ahead.";
  const latest = Math.min(iat ?? seconds, seconds) + maxAssertionSeconds + clockToleranceSeconds;
  return exp > latest ? `An assertion must expire within ${maxAssertionSeconds} seconds.` : undefined;
}

/** What a token is granted: scopes of the API and at most one purpose, or why it is not. */
type Granted =
  | { readonly scope: string; readonly scopes: readonly string[]; readonly purpose: string | undefined }
  | { readonly problem: string };

/**
 * The scope of a token, as it was asked for: of the client's scopes, with at most one of its purposes. A token for a
 * subscriber has a purpose.
 */
export function grantedScope(asked: string | undefined, client: ClientRecord, grant: Grant): Granted {
  const words = [...new Set((asked ?? "").split(" ").filter(Boolean))];
  const purposes = words.filter((word) => word.startsWith("dpv:"));
  const scopes = words.filter((word) => !word.startsWith("dpv:"));
  if (scopes.length === 0) return { problem: "The scope is missing." };
  if (scopes.some((scope) => !client.scopes.includes(scope))) {
    return { problem: "The client may not have one of these scopes." };
  }
  if (purposes.length > 1) return { problem: "A token has at most one purpose." };
  const [purpose] = purposes;
  if (purpose !== undefined && !client.purposes?.includes(purpose)) {
    return { problem: "The client does not have this purpose." };
  }
  if (grant === jwtBearer && purpose === undefined) {
    return { problem: "A token for a subscriber needs a purpose, such as dpv:FraudPreventionAndDetection." };
  }
  return { scope: words.join(" "), scopes, purpose };
}

/** The phone number of an assertion's subject, `tel:+…` (RFC 3966); `undefined` for any other subject. */
export function phoneNumberOf(subject: string): string | undefined {
  return subject.startsWith("tel:") ? phoneNumber.safeParse(subject.slice("tel:".length)).data : undefined;
}

/** Whether a token of these scopes reads what the subscriber must have agreed to. */
export function needsConsent(scopes: readonly string[]): boolean {
  return scopes.some((scope) => scope.startsWith("device-identifier:"));
}
