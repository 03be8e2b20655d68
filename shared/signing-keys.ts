import * as z from "zod/mini";
import { putItem, queryPartition, updateItem } from "./aws/database.ts";
import { type PublicJwk, publicJwk } from "./token.ts";

const partition = "sig";

const signingKeyItem = z.object({
  jwk: publicJwk,
  /** Epoch second from which on the key was public. */
  publishedAt: z._default(z.number(), 0),
  /** Epoch second after which no token signed with the key can still be valid; absent while it signs. */
  expiresAt: z.optional(z.number()),
});

/** The public keys that verify our own tokens at a moment, each with when it became public. */
export async function publishedKeys(
  now: Date,
  signal: AbortSignal,
): Promise<z.infer<typeof signingKeyItem>[]> {
  const items = await queryPartition("signing-keys", partition, signingKeyItem, signal);
  return items.filter(({ expiresAt }) => expiresAt === undefined || expiresAt * 1_000 > now.getTime());
}

/** The public keys that verify our own tokens at a moment: those signing, those to sign next, those just retired. */
export async function publicKeys(now: Date, signal: AbortSignal): Promise<PublicJwk[]> {
  return (await publishedKeys(now, signal)).map(({ jwk }) => jwk);
}

/** Publishes a key before its first use. Publishing it again changes nothing, not even its retirement. */
export async function publish(jwk: PublicJwk, now: Date, signal: AbortSignal): Promise<void> {
  const publishedAt = Math.ceil(now.getTime() / 1_000);
  const item = { use: partition, kid: jwk.kid, jwk, publishedAt };
  await putItem("signing-keys", item, { condition: "attribute_not_exists(kid)" }, signal);
}

/** Lets a key end at a moment; a key that already has an end, or is not there, is left as it is. */
export async function retire(kid: string, at: Date, signal: AbortSignal): Promise<void> {
  await updateItem(
    "signing-keys",
    { use: partition, kid },
    {
      update: "SET expiresAt = :at",
      condition: "attribute_exists(kid) AND attribute_not_exists(expiresAt)",
      values: { ":at": Math.ceil(at.getTime() / 1_000) },
    },
    signal,
  );
}
