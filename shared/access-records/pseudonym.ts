import { createHmac } from "node:crypto";

/**
 * Stands for a subscription in access records: HMAC-SHA256, base64url. A plain hash would not do, as whoever has a
 * list of subscriptions could compute it.
 */
export function pseudonymOf(subscription: string, key: string): string {
  return createHmac("sha256", Buffer.from(key, "base64url")).update(subscription).digest("base64url");
}
