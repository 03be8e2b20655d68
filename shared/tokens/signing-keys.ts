import { putItem, queryPartition, updateItem } from "../aws/database.ts";
import { type SigningKeyRecord, signingKeys } from "./table.ts";
import type { PublicJwk } from "./token.ts";

const partition = "sig";

/** The public keys that verify our own tokens at a point in time, with the time when each became public. */
export async function publishedKeys(now: Date, signal: AbortSignal): Promise<SigningKeyRecord[]> {
  const items = await queryPartition(signingKeys, partition, signal);
  return items.filter(({ expiresAt }) => expiresAt === undefined || expiresAt * 1_000 > now.getTime());
}

/** The public keys that verify our own tokens at a point in time: current, next and recently retired ones. */
export async function publicKeys(now: Date, signal: AbortSignal): Promise<PublicJwk[]> {
  return (await publishedKeys(now, signal)).map(({ jwk }) => jwk);
}

/** Publishes a key before its first use. Publishing it again has no effect, not even on its retirement. */
export async function publish(jwk: PublicJwk, now: Date, signal: AbortSignal): Promise<void> {
  const publishedAt = Math.ceil(now.getTime() / 1_000);
  const item = { use: partition, kid: jwk.kid, jwk, publishedAt };
  await putItem(signingKeys, item, { condition: "attribute_not_exists(kid)" }, signal);
}

/** Sets when a key expires; a key that already has an expiry, or does not exist, is left as it is. */
export async function retire(kid: string, at: Date, signal: AbortSignal): Promise<void> {
  await updateItem(
    signingKeys,
    { use: partition, kid },
    {
      update: "SET expiresAt = :at",
      condition: "attribute_exists(kid) AND attribute_not_exists(expiresAt)",
      values: { ":at": Math.ceil(at.getTime() / 1_000) },
    },
    signal,
  );
}
