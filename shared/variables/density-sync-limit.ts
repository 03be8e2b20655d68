import { count } from "./format.ts";

/** Slots, cells × hours, of the largest synchronous answer. */
export const DENSITY_SYNC_LIMIT = {
  name: "DENSITY_SYNC_LIMIT",
  default: "40000",
  format: () => count(1, 1_000_000_000),
};
