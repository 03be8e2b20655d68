/** Turns off read caches, for functions whose tables a test writes. */
export const uncached = { CACHE_SECONDS: "0" } as const;
