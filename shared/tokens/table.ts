import * as z from "zod/mini";
import { table } from "../table.ts";
import { publicJwk } from "./token.ts";

const signingKeyRecord = z.object({
  jwk: publicJwk,
  /** Epoch second at which the key became public. */
  publishedAt: z._default(z.number(), 0),
  /** Epoch second after which no token signed with the key can still be valid; absent while it signs. */
  expiresAt: z.optional(z.number()),
});

/** A public key as stored. */
export type SigningKeyRecord = z.infer<typeof signingKeyRecord>;

/** The public keys of our own tokens, in one partition, so that one query reads all of them. */
export const signingKeys = table({
  name: "signing-keys",
  partitionKey: "use",
  sortKey: "kid",
  timeToLive: "expiresAt",
  schema: signingKeyRecord,
});
