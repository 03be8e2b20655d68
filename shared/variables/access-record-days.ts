import { count } from "./format.ts";

/** How many days records of who read what about whom are kept; with 0 nothing is recorded. */
export const ACCESS_RECORD_DAYS = {
  name: "ACCESS_RECORD_DAYS",
  default: "365",
  format: () => count(0, 3_650),
};
