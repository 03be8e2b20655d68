import * as z from "zod/mini";
import { table } from "../../../shared/table.ts";

const webhookSecret = z.object({
  /** `whsec_` and the key in base64. */
  secret: z.string(),
  /** ISO 8601. */
  createdAt: z.string(),
});

/** The secrets that sign the deliveries of a caller, all in one item, so that one write holds their limit. */
export const webhookSecrets = table({
  name: "webhook-secrets",
  partitionKey: "caller",
  timeToLive: "expiresAt",
  // Credentials.
  personalData: true,
  schema: z.object({
    /** By id. */
    secrets: z.record(z.string(), webhookSecret),
    /** Epoch second until which none is stored, because the caller's login was erased. */
    expiresAt: z.optional(z.number()),
  }),
});
