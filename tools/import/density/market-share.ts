/** People counted in a cell in an hour. */
export interface Range {
  /** 0 ≤ least ≤ people ≤ greatest, whole or not. */
  readonly people: number;
  readonly least: number;
  readonly greatest: number;
}

/** Standard deviations to either side that hold 95 % of a normal distribution. */
const deviations = 1.96;

/**
 * How many people there are when only a share of them is counted, such as an operator's own customers: n counted
 * are n/s. Each of them is counted or not, independently, so n is binomial and n/s has a standard deviation of
 * √(n(1 − s))/s; the range grows by 1.96 of these to either side, which holds 95 %. There are at least as many as were
 * certainly counted.
 * @param share s, above 0 and at most 1; 1 changes nothing.
 */
export function scaledUp({ people, least, greatest }: Range, share: number): Range {
  checkShare(share);
  const distance = (deviations * Math.sqrt(people * (1 - share))) / share;
  return {
    people: people / share,
    least: Math.max(least, least / share - distance),
    greatest: greatest / share + distance,
  };
}

/**
 * The threshold for people that were scaled up, so that it tells how many of them were counted. A hair below the
 * exact one: a sum of many that were scaled must not miss it by rounding, and counts are a whole person apart.
 * @param counted the fewest people counted that may be told.
 */
export function thresholdFor(counted: number, share: number): number {
  checkShare(share);
  return share === 1 ? counted : (counted / share) * (1 - 2 ** -40);
}

function checkShare(share: number): void {
  if (!(share > 0 && share <= 1)) throw new RangeError(`${share} is not a share above 0 and at most 1`);
}
