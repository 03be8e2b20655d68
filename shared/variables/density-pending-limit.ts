import { count } from "./format.ts";

/** Maximum of pending operations per caller. */
export const DENSITY_PENDING_LIMIT = {
  name: "DENSITY_PENDING_LIMIT",
  default: "20",
  format: () => count(0, 100),
};
