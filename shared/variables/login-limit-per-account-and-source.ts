import { count } from "./format.ts";

/** Maximum of failed logins in 15 minutes to one account from one source address. */
export const LOGIN_LIMIT_PER_ACCOUNT_AND_SOURCE = {
  name: "LOGIN_LIMIT_PER_ACCOUNT_AND_SOURCE",
  default: "20",
  format: () => count(0, 1_000_000),
};
