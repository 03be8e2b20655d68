import { text } from "./format.ts";

/** The secret with the key that signs tokens. */
export const SIGNING_KEY_SECRET_ARN = { name: "SIGNING_KEY_SECRET_ARN", format: text };
