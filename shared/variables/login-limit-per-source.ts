import { count } from "./format.ts";

/** Maximum of failed logins in 15 minutes from one source address. */
export const LOGIN_LIMIT_PER_SOURCE = {
  name: "LOGIN_LIMIT_PER_SOURCE",
  default: "300",
  format: () => count(0, 1_000_000),
};
