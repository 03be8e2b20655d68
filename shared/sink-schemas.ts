import * as z from "zod/mini";
import { setting } from "./environment.ts";
import { asks, dateTime } from "./schemas.ts";
import { isSink } from "./sinks/sink-url.ts";
import { SINK_ALLOWED_NETWORKS } from "./variables/sink-allowed-networks.ts";

/** The address to which an answer is delivered. An invalid one is `INVALID_SINK`. */
export const sink = z.string().check(
  z.refine((text) => isSink(text, setting(SINK_ALLOWED_NETWORKS)), asks("INVALID_SINK")),
  z.meta({
    format: "uri",
    description:
      "An https URL with a public host name, to which the answer is delivered later. It is posted " +
      "there with `operationId` as a further member.",
  }),
);

/** Most characters of an idempotency key. */
export const maxKeyCharacters = 255;

/** The header that makes a request with a sink safe to repeat. */
export const idempotencyKey = z.optional(
  z.string().check(
    z.minLength(1),
    z.maxLength(maxKeyCharacters),
    z.meta({
      description:
        "With a sink: the same request with the same key within a day is the same operation. Without one, ignored.",
      examples: ["my-order-1"],
    }),
  ),
);

const accessToken = z
  .string()
  .check(
    z.regex(/^[\x20-\x7e]{1,8192}$/, "must be 1 to 8192 printable ASCII characters"),
    z.meta({ description: "Sent to the sink as bearer token." }),
  );
const accessTokenExpiresUtc = dateTime("When the token ceases to be valid.");
const isBearer = z.refine(
  (type) => typeof type === "string" && type.toLowerCase() === "bearer",
  asks("INVALID_TOKEN"),
);
const accessTokenTypeMeta = z.meta({
  type: "string",
  // Not an enum of two cases: generators of clients make one name of both.
  pattern: "^[Bb][Ee][Aa][Rr][Ee][Rr]$",
  description: "`bearer` in any case: many authorization servers write `Bearer`.",
  examples: ["bearer"],
});

/** Credential that the service presents to a sink. */
export const sinkCredential = z
  .object({
    credentialType: z.unknown().check(
      z.refine((type) => type !== undefined, { abort: true }),
      z.refine((type) => type === "ACCESSTOKEN", asks("INVALID_CREDENTIAL")),
      z.meta({ type: "string", enum: ["ACCESSTOKEN"], description: "The only type that is supported." }),
    ),
    accessToken: z.optional(accessToken),
    accessTokenExpiresUtc: z.optional(accessTokenExpiresUtc),
    accessTokenType: z.optional(z.unknown().check(isBearer, accessTokenTypeMeta)),
  })
  .check(z.meta({ id: "SinkCredential", description: "What the service presents to the sink." }));

/** Credential of CAMARA's release, which requires every member. */
export const completeSinkCredential = (release: string) =>
  z
    .object({
      ...sinkCredential.shape,
      accessToken,
      accessTokenExpiresUtc,
      accessTokenType: z.unknown().check(
        z.refine((type) => type !== undefined, { abort: true }),
        isBearer,
        accessTokenTypeMeta,
      ),
    })
    .check(
      z.meta({
        id: "CompleteSinkCredential",
        "x-camara-release": release,
        description: "What the service presents to the sink: every member is required.",
      }),
    );

/** Type of the credential. */
export type SinkCredential = z.infer<typeof sinkCredential>;
