import * as z from "zod/mini";
import { table } from "../table.ts";

/** What a key makes pseudonyms of: subscriptions in access records, devices for clients, or subscriptions in tokens. */
export type PseudonymUse = "access-records" | "device-ppids" | "token-subjects";

/** The keys that make pseudonyms, apart from them: without its key nobody knows whom or what a pseudonym stands for. */
export const pseudonymKeys = table({
  name: "pseudonym-keys",
  partitionKey: "use",
  // Credentials.
  personalData: true,
  schema: z.object({
    /** In base64url. */
    key: z.string(),
  }),
});
