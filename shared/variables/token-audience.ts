import { text } from "./format.ts";

/** Whom our tokens are for. */
export const TOKEN_AUDIENCE = { name: "TOKEN_AUDIENCE", default: "network-capabilities", format: text };
