import * as z from "zod/mini";
import { isHttpsOrLocal } from "../environment.ts";
import { nearestName } from "../nearest-name.ts";
import { json } from "./format.ts";

/** Signature algorithms of tokens: asymmetric only, so that verification needs no secret. */
const signatureAlgorithms = [
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
  "PS256",
  "PS384",
  "PS512",
  "RS256",
  "RS384",
  "RS512",
] as const;

const trustedIssuer = () => {
  const text = z.string().check(z.minLength(1));
  const word = z.string().check(z.regex(/^\S+$/));
  return z
    .strictObject({
      /** A client is known by `issuer name`, so a space would make two clients one. */
      issuer: word,
      jwksUri: z.string().check(z.refine(isHttpsOrLocal, "must be https")),
      /** A token must be for one of these. */
      audience: z.union([text, z.array(text).check(z.minLength(1))]),
      /** The claim with the audience; `aud` unless set. */
      audienceClaim: z.optional(text),
      algorithms: z.array(z.enum(signatureAlgorithms)).check(z.minLength(1)),
      /** The claim with the scopes, as a list or as text with spaces between them; `scope` unless set. */
      scopeClaim: z.optional(text),
      /** What every scope of this service begins with in the issuer's tokens; other scopes do not count. */
      scopePrefix: z.optional(word),
      /** The claim with the client; `client_id` unless set, or else `azp`. With `sub`, a person would be a client. */
      clientClaim: z.optional(text.check(z.refine((claim) => claim !== "sub", "must not be sub"))),
      /** The claim with the subscription of a user's token. */
      subscriptionClaim: z.optional(text),
      /** Whether every token without that claim belongs to an application, with any subject. */
      applicationsOnly: z.optional(z.boolean()),
      /** The claim, and its exact value, that only the tokens of applications have. */
      applicationWhen: z.optional(z.strictObject({ claim: text, equals: text })),
    })
    .check(
      z.refine(
        ({ applicationsOnly, applicationWhen }) =>
          applicationsOnly === undefined || applicationWhen === undefined,
        "must not have both applicationsOnly and applicationWhen",
      ),
    );
};

/** An authorization server of the operator, whose tokens are accepted in addition to our own. */
export type TrustedIssuer = z.infer<ReturnType<typeof trustedIssuer>>;

function haveOneEntryEach(issuers: readonly { readonly issuer: string }[]): boolean {
  return new Set(issuers.map(({ issuer }) => issuer)).size === issuers.length;
}

/** What is wrong with an entry, by its path and without the value. */
function issuerProblem(issues: readonly z.core.$ZodIssue[]): string {
  const unknown = issues.find((issue) => issue.code === "unrecognized_keys");
  const [index, ...members] = (unknown ?? issues[0])?.path ?? [];
  const entry = index === undefined ? "the array" : `entry ${Number(index) + 1}`;
  const path = members.length === 0 ? entry : `${members.join(".")} of ${entry}`;
  if (unknown === undefined) {
    const [first] = issues;
    return `${path} ${first?.code === "custom" ? first.message : "is missing or malformed"}`;
  }
  const known = members.length === 0 ? Object.keys(trustedIssuer().shape) : ["claim", "equals"];
  const nearest = nearestName(unknown.keys[0] ?? "", known);
  return `${path} has an unknown member${nearest === undefined ? "" : `; the nearest name is ${nearest}`}`;
}

/** The authorization servers whose tokens are accepted in addition to our own. */
export const TRUSTED_ISSUERS = {
  name: "TRUSTED_ISSUERS",
  default: "[]",
  format: () =>
    json(
      z.array(trustedIssuer()).check(z.refine(haveOneEntryEach, "has two entries for one issuer")),
      "be a JSON array with one object for each issuer, which has issuer (without spaces), jwksUri (https), audience " +
        `(text or a list) and algorithms (a list of ${signatureAlgorithms.join(", ")}), and may have audienceClaim, ` +
        "scopeClaim, scopePrefix, clientClaim and subscriptionClaim (text), and either applicationsOnly (true or " +
        "false) or applicationWhen ({claim, equals})",
      issuerProblem,
    ),
};
