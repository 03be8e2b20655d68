import { count } from "./format.ts";

/** The longest lifetime that an operator may give our tokens, in seconds. */
export const longestTokenLifetimeSeconds = 86_400;

/** How long our tokens are valid. */
export const TOKEN_LIFETIME_SECONDS = {
  name: "TOKEN_LIFETIME_SECONDS",
  default: "3600",
  format: () => count(1, longestTokenLifetimeSeconds),
};
