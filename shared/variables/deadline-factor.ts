import { count, whenSet } from "./format.ts";

/** Multiplies all deadlines, because `npm start` and tests may run on a busy machine. No stage sets it. */
export const DEADLINE_FACTOR = { name: "DEADLINE_FACTOR", format: () => whenSet(count(1, 100), 1) };
