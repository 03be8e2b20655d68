import * as z from "zod/mini";
import { table } from "../table.ts";
import { publicJwk } from "./token.ts";

const signingKeyRecord = z.object({
  jwk: publicJwk,
  /** Epoch second from which on the key was public. */
  publishedAt: z._default(z.number(), 0),
  /** Epoch second after which no token signed with the key can still be valid; absent while it signs. */
  expiresAt: z.optional(z.number()),
});

/** A public key as the table holds it. */
export type SigningKeyRecord = z.infer<typeof signingKeyRecord>;

/** Public keys of our own tokens: one partition, the whole set in one query. */
export const signingKeys = table({
  name: "signing-keys",
  partitionKey: "use",
  sortKey: "kid",
  timeToLive: "expiresAt",
  schema: signingKeyRecord,
});
