/** The scale of densities: classes, with colours that can be told apart with any colour vision. */

/** The Viridis colours (CC0), in ascending order of density. */
const viridis = ["#440154", "#443983", "#31688e", "#21918c", "#35b779", "#90d743", "#fde725"] as const;

/** The largest number of classes. */
export const classCount = viridis.length;

/** Classes of densities, in people per km². */
export interface Scale {
  /** The lower bounds of all classes but the first, ascending. */
  readonly breaks: readonly number[];
  readonly min: number;
  readonly max: number;
}

/**
 * Divides densities into classes of about equal size. Breaks are rounded to two digits; similar densities yield fewer
 * classes.
 */
export function scaleOf(densities: readonly number[]): Scale {
  const sorted = [...densities].sort((one, other) => one - other);
  const min = sorted[0] ?? 0;
  const max = sorted.at(-1) ?? 0;
  const breaks: number[] = [];
  for (let index = 1; index < classCount; index++) {
    const end = twoDigits(sorted[Math.floor((index * sorted.length) / classCount)] ?? 0);
    if (end > (breaks.at(-1) ?? min) && end <= max) breaks.push(end);
  }
  return { breaks, min, max };
}

function twoDigits(value: number): number {
  return Number(value.toPrecision(2));
}

/** The class of a density, from 0. */
export function classOf(density: number, { breaks }: Scale): number {
  let index = 0;
  while (index < breaks.length && density >= (breaks[index] ?? 0)) index++;
  return index;
}

/** The colours of a scale's classes. The highest class has the most contrast with the background. */
export function coloursOf({ breaks }: Scale, isDark: boolean): readonly string[] {
  const ordered = isDark ? viridis : viridis.toReversed();
  const last = Math.max(1, breaks.length);
  return Array.from({ length: breaks.length + 1 }, (_, index) => {
    const place = breaks.length === 0 ? classCount - 1 : Math.round((index * (classCount - 1)) / last);
    return ordered[place] ?? ordered[0];
  });
}
