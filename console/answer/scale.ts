/** Scales of densities: classes, with colours that can be told apart with any colour vision. */

/** The Viridis colours (CC0), in ascending order of density. */
const viridis = ["#440154", "#443983", "#31688e", "#21918c", "#35b779", "#90d743", "#fde725"] as const;

/** How opaque cells with a density are, on the map and in its legend. */
export const cellOpacity = 0.75;

/** The largest number of classes. */
export const classCount = viridis.length;

/** Classes of densities, in people per km². */
export interface Scale {
  /** The lower bounds of all classes but the first, ascending; round numbers. */
  readonly breaks: readonly number[];
}

/** The scale that is the same for all answers, so that two of them can be compared. */
export const fixedScale: Scale = { breaks: [1_000, 2_000, 5_000, 10_000, 20_000, 50_000] };

/** Round numbers between 1 and 10: each class ends at one of them times a power of ten. */
const roundDigits = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10] as const;

/** Divides densities into classes of about equal size, between round numbers; similar densities yield fewer classes. */
export function scaleOf(densities: readonly number[]): Scale {
  const sorted = [...densities].sort((one, other) => one - other);
  const [min = 0, max = 0] = [sorted[0], sorted.at(-1)];
  const breaks: number[] = [];
  for (let index = 1; index < classCount; index++) {
    const end = nearestRound(sorted[Math.floor((index * sorted.length) / classCount)] ?? 0);
    if (end > (breaks.at(-1) ?? min) && end <= max) breaks.push(end);
  }
  return { breaks };
}

function nearestRound(value: number): number {
  if (value <= 0) return 0;
  const unit = 10 ** Math.floor(Math.log10(value));
  const distance = (digits: number) => Math.abs(digits * unit - value);
  return roundDigits.reduce((one, other) => (distance(other) < distance(one) ? other : one)) * unit;
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
