/** For functions whose tables a test writes: they answer from what is stored now. `test/shared/read-cache.test.ts`. */
export const uncached = { CACHE_SECONDS: "0" } as const;
