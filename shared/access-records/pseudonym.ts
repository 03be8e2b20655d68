import { createHmac } from "node:crypto";

/**
 * Stands for a subscription in access records: HMAC-SHA256, base64url. A plain hash could be
 * computed by anybody with a list of subscriptions.
 */
export function pseudonymOf(subscription: string, key: string): string {
  return createHmac("sha256", Buffer.from(key, "base64url")).update(subscription).digest("base64url");
}
