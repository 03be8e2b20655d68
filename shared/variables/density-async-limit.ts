import { count } from "./format.ts";

/** Slots of the largest answer that is delivered to a sink. */
export const DENSITY_ASYNC_LIMIT = {
  name: "DENSITY_ASYNC_LIMIT",
  default: "2000000",
  format: () => count(1, 1_000_000_000),
};
