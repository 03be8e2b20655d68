/** People counted in one or several cells in an hour, with a range. */
export interface Range {
  /** 0 ≤ min ≤ people ≤ max; may be fractions. */
  readonly people: number;
  readonly min: number;
  readonly max: number;
}

/** 95 % of a normal distribution is within this many standard deviations. */
const deviations = 1.96;

/**
 * Extrapolates people of whom only a share s is counted, such as an operator's own customers: n counted people stand
 * for n/s. Each person is counted or not, independently, so n is binomial and n/s has the standard deviation √(n(1 −
 * s))/s; 95 % are within 1.96 standard deviations. This error and that of the count itself are independent: the
 * distance to either end of the range is the square root of the sum of their squares. The lower end is not below the
 * people who were certainly counted. For a sum, add the counted people first: errors do not add up linearly.
 * @param share s, above 0 and at most 1; with 1, nothing is extrapolated.
 * @param half a strict bound on a further deviation of the counted people in either direction, in addition to these
 * errors.
 */
export function scaledUp({ people, min, max }: Range, share: number, half = 0): Range {
  checkShare(share);
  if (share === 1) return { people, min: min - half, max: max + half };
  const variance = deviations ** 2 * people * (1 - share);
  return {
    people: people / share,
    min: Math.max(min - half, (people - Math.sqrt((people - min) ** 2 + variance) - half) / share),
    max: (people + Math.sqrt((max - people) ** 2 + variance) + half) / share,
  };
}

/** @throws RangeError unless it is above 0 and at most 1. */
export function checkShare(share: number): void {
  if (!(share > 0 && share <= 1)) throw new RangeError(`${share} is not a share above 0 and at most 1`);
}
