import { count } from "./format.ts";

/** Maximum of requests per caller and day. */
export const DAILY_QUOTA = { name: "DAILY_QUOTA", default: "100000", format: () => count(0, 1_000_000_000) };
