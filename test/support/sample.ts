/** Whether the tests named by `npm run test:long` make many times as many random runs as otherwise. */
export const isLong = process.env.TEST_MODE === "long";

/** Whether every long test runs whole: `npm run test:all`. `npm test` takes samples of them. */
export const isWhole = isLong || process.env.TEST_MODE === "all";

/**
 * Whether tests run that compare with something outside, such as a browser or CAMARA's features, that wait long, or that
 * make again what others hold: whenever long tests run whole, and by CI beside samples of them.
 */
export const isInCi = isWhole || process.env.TEST_MODE === "ci";

/**
 * The number of random runs: `whole` when long tests run whole, `sample` with `npm test` and `long` with
 * `npm run test:long`.
 */
export function runs(whole: number, sample: number, long = whole): number {
  if (isLong) return long;
  return isWhole ? whole : sample;
}

/** All cases when long tests run whole, otherwise a sample of so many, spread evenly from the first on. */
export function sampleOf<Case>(cases: readonly Case[], sample: number): readonly Case[] {
  const step = isWhole ? 1 : cases.length / sample;
  return cases.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step));
}
