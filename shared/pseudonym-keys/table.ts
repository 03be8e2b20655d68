import * as z from "zod/mini";
import { table } from "../table.ts";

/** What a key makes pseudonyms of: subscriptions in access records, or devices for clients. */
export type PseudonymUse = "access-records" | "device-ppids";

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
