import { count } from "./format.ts";

/** The suppression threshold K, read by the import: counts below it are not published. */
export const DENSITY_K = { name: "DENSITY_K", default: "10", format: () => count(1, 1_000_000) };
