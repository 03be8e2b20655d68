import * as z from "zod/mini";

/** The opaque id of a subscription. A 3-legged token is bound to it; devices and logins refer to it. */
export const subscriptionId = z.string().check(z.minLength(1), z.maxLength(128));

/** Whether a claim can be the id of a subscription. */
export function isSubscriptionId(claim: unknown): claim is string {
  return subscriptionId.safeParse(claim).success;
}
