import * as z from "zod/mini";

/** The opaque id of a subscription: what a 3-legged token is tied to, and what a device and a login are kept under. */
export const subscriptionId = z.string().check(z.minLength(1), z.maxLength(128));

/** Whether a claim can name a subscription. */
export function isSubscriptionId(claim: unknown): claim is string {
  return subscriptionId.safeParse(claim).success;
}
