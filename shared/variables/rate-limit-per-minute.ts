import { count } from "./format.ts";

/** Maximum of requests per caller and minute. */
export const RATE_LIMIT_PER_MINUTE = {
  name: "RATE_LIMIT_PER_MINUTE",
  default: "1200",
  format: () => count(0, 1_000_000_000),
};
