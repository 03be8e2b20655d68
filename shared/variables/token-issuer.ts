import { text } from "./format.ts";

/** Our issuer, in every token. */
export const TOKEN_ISSUER = {
  name: "TOKEN_ISSUER",
  default: "https://network-capabilities.example",
  format: text,
};
