import * as z from "zod/mini";
import { table } from "../../shared/table.ts";
import { publicKeyOf } from "../../shared/tokens/public-key.ts";
import { purposeForm } from "../../shared/tokens/purpose.ts";
import { maxClientKeys } from "./limits.ts";

const text = (maxLength: number) => z.string().check(z.minLength(1), z.maxLength(maxLength));

const clientKey = z
  .looseObject({
    kty: z.enum(["EC", "OKP", "RSA"]),
    kid: z.optional(text(256)),
    crv: z.optional(text(16)),
    use: z.optional(text(16)),
    alg: z.optional(text(16)),
  })
  .check(
    z.refine(
      (key) => publicKeyOf(key) !== undefined,
      "must be the public half of a key; one of RSA has at least 2048 bits and an odd exponent of 65537 or more",
    ),
  );

/** A public key of a client (RFC 7517). */
export type ClientKey = z.infer<typeof clientKey>;

/** The public keys of a client. */
export const clientKeys = z.object({
  keys: z.array(clientKey).check(z.minLength(1), z.maxLength(maxClientKeys)),
});

/** The grants that a client may use, as RFC 6749 and RFC 7523 name them. */
export const grants = ["client_credentials", "urn:ietf:params:oauth:grant-type:jwt-bearer"] as const;

/** A grant. */
export type Grant = (typeof grants)[number];

/** A client as stored. */
export const clientRecord = z.object({
  /** Not of digits alone, as clients of logins are, and without the space that other issuers' clients have. */
  clientId: z
    .string()
    .check(
      z.regex(/^(?=.*\D)[\w.~-]{1,128}$/, "must be 1 to 128 of A-Z a-z 0-9 _ . ~ - and not digits alone"),
    ),
  /** Several for a rotation. */
  jwks: z.optional(clientKeys),
  /** Where its keys are, instead of `jwks`. */
  jwksUri: z.optional(text(2_048)),
  scopes: z.array(text(128)).check(z.maxLength(100)),
  grants: z.array(z.enum(grants)).check(z.minLength(1)),
  purposes: z.optional(z.array(z.string().check(z.regex(purposeForm)))),
});

/** A client. */
export type ClientRecord = z.infer<typeof clientRecord>;

/** The clients that may ask for tokens. Their keys are public. */
export const clients = table({ name: "clients", partitionKey: "clientId", schema: clientRecord });

/** Assertions that were used, by a hash of client and `jti`, until they have expired. */
export const usedAssertions = table({
  name: "used-assertions",
  partitionKey: "jtiHash",
  timeToLive: "expiresAt",
  ephemeral: true,
  schema: z.object({ expiresAt: z.number() }),
});
