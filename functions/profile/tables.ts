import * as z from "zod/mini";
import { subscriptionId } from "../../shared/devices/subscription.ts";
import { table } from "../../shared/table.ts";
import { userProfile } from "./contract.ts";

/** A login as the table holds it: the profile of specification 2.1 with what only the service sees. */
export const profileRecord = z.object({
  ...userProfile.shape,
  ID: z.int(),
  EmailAddress: z.email().check(z.maxLength(254)),
  /** Absent for an account nobody can log in to with a password. */
  passwordHash: z.optional(z.string().check(z.minLength(1))),
  /** The subscription the login is linked to; makes its tokens 3-legged. */
  subscription: z.optional(subscriptionId),
});

/** A login as the table holds it. */
export type ProfileRecord = z.infer<typeof profileRecord>;

/** Logins, by a hash of the e-mail address in lower case. */
export const profiles = table({
  name: "profiles",
  partitionKey: "address",
  personalData: true,
  schema: profileRecord,
});

/** Login attempts counted by window. */
export const loginAttempts = table({
  name: "login-attempts",
  partitionKey: "counted",
  timeToLive: "expiresAt",
  ephemeral: true,
  schema: z.object({
    /** Failures, and attempts under way. */
    attempts: z._default(z.number(), 0),
    /** The attempts under way, by their names. */
    underWay: z._default(z.set(z.string()), new Set()),
  }),
});
