import { count } from "./format.ts";

/** Maximum of failed logins in 15 minutes to one account from any address. */
export const LOGIN_LIMIT_PER_ACCOUNT = {
  name: "LOGIN_LIMIT_PER_ACCOUNT",
  default: "100",
  format: () => count(0, 1_000_000),
};
