import { count } from "./format.ts";

/**
 * Seconds for which densities, QoS profiles and the public key set may be served from a cache. At most a minute: a
 * new signing key must be in every cache before it signs (`firstUseSeconds`).
 */
export const CACHE_SECONDS = { name: "CACHE_SECONDS", default: "60", format: () => count(0, 60) };
