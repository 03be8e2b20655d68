/** Scales of densities and of their differences: classes, with colours that can be told apart with any colour vision. */

/** Magma (CC0), in ascending order of density, at steps of a tenth. */
const magma = [
  "#000004",
  "#140e36",
  "#3b0f70",
  "#641a80",
  "#8c2981",
  "#b73779",
  "#de4968",
  "#f7705c",
  "#fe9f6d",
  "#fecf92",
  "#fcfdbf",
] as const;

/** The part of Magma that stands out from the ground, from dark to bright. */
const shownPart = { from: 0.15, to: 0.98 } as const;

/** From fewer people, purple, to more, orange, on a light and on a dark ground (PuOr of ColorBrewer, extended). */
const purpleToOrange = {
  light: ["#542788", "#8073ac", "#b2abd2", "#d8daeb", "#f2f2f2", "#fee0b6", "#fdb863", "#e08214", "#b35806"],
  dark: ["#cfc4f7", "#a294dd", "#7768b3", "#4b4276", "#2b323b", "#6b4a1d", "#a8691a", "#e0912f", "#ffc97d"],
} as const;

/** How opaque cells with a density are, on the map and in its legend. */
export const cellOpacity = 0.85;

/** The largest number of classes. */
export const classCount = 9;

/** The scales to choose from: made for the answer that is shown, or the same for all answers. */
export const scaleNames = ["This answer", "All answers"] as const;

/** The name of a scale. */
export type ScaleName = (typeof scaleNames)[number];

/** Classes of densities, in people per km². */
export interface Scale {
  /** The lower bounds of all classes but the first, ascending; round numbers. */
  readonly breaks: readonly number[];
  /** The least and the greatest value that it was made for; undefined without any, and where it is for all answers. */
  readonly range?: readonly [least: number, greatest: number];
  /** Whether it is one of differences, as many classes below zero as above. */
  readonly isOfDifferences?: boolean;
}

/** The scale that is the same for all answers, so that two of them can be compared. */
export const fixedScale: Scale = { breaks: [250, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000] };

/** Round numbers between 1 and 10: each class ends at one of them times a power of ten. */
const roundDigits = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10] as const;

/** The least number of classes of as many different numbers or more. */
const leastClasses = 5;

/**
 * Divides densities into classes of which each has some: of about equal size, between round numbers; in even steps where
 * numbers are too close for that; and where these are too few, between any different numbers.
 */
export function scaleOf(densities: readonly number[]): Scale {
  const sorted = Float64Array.from(densities).sort();
  const different = [...new Set(sorted)];
  const [min, max] = [different[0], different.at(-1)];
  if (min === undefined || max === undefined) return { breaks: [] };
  const shares = (of: ArrayLike<number>) =>
    Array.from(
      { length: classCount - 1 },
      (_, index) => of[Math.floor(((index + 1) * of.length) / classCount)] ?? 0,
    );
  const candidates = [shares(sorted).map(nearestRound), evenSteps(min, max), shares(different)];
  const filled = candidates.map((ends) => filledOnly(ends, different));
  return {
    breaks: filled.find(({ length }) => length >= Math.min(leastClasses, different.length) - 1) ?? [],
    range: [min, max],
  };
}

/** Multiples of the smallest round step that makes no more than the largest number of classes. */
function evenSteps(min: number, max: number): number[] {
  const unit = Math.max(1, 10 ** Math.floor(Math.log10((max - min) / classCount)));
  const steps = [1, 2, 5, 10, 20].map((digits) => digits * unit);
  const step = steps.find((one) => Math.ceil(max / one) - Math.floor(min / one) <= classCount) ?? max;
  const first = Math.floor(min / step) + 1;
  return Array.from({ length: classCount - 1 }, (_, index) => (first + index) * step);
}

/** The ends, ascending, that have numbers between each other. */
function filledOnly(ends: readonly number[], numbers: readonly number[]): number[] {
  const breaks: number[] = [];
  for (const end of ends) {
    const before = breaks.at(-1) ?? Number.NEGATIVE_INFINITY;
    const isFilled = numbers.some((number) => number >= before && number < end);
    if (isFilled && numbers.some((number) => number >= end)) breaks.push(end);
  }
  return breaks;
}

/** Divides differences into as many classes below zero as above, with little change in the middle. */
export function differenceScaleOf(differences: readonly number[]): Scale {
  const sizes = Float64Array.from(differences, Math.abs).filter((size) => size > 0);
  sizes.sort();
  const steps = [0.3, 0.6, 0.85, 0.96].map((share) =>
    nearestRound(sizes[Math.floor(share * sizes.length)] ?? 0),
  );
  const ends = steps.filter((step, index) => step > (index === 0 ? 0 : (steps[index - 1] ?? 0)));
  const breaks = [...ends.map((end) => -end).reverse(), ...ends];
  // Without a change, all of them are zero.
  return { breaks, isOfDifferences: true, ...(differences.length === 0 ? {} : { range: [0, 0] }) };
}

/** The classes whose upper bounds have a label: of many, every other one, and of differences the same on both sides. */
export function labelledClasses({ breaks, isOfDifferences = false }: Scale): number[] {
  const isLabelled = (index: number) => {
    const fromEnd = isOfDifferences ? Math.min(index, breaks.length - 1 - index) : index;
    return breaks.length <= 5 || fromEnd % 2 === 0;
  };
  return [...breaks.keys()].filter(isLabelled);
}

function nearestRound(value: number): number {
  if (value <= 0) return 0;
  const unit = 10 ** Math.floor(Math.log10(value));
  const distance = (digits: number) => Math.abs(digits * unit - value);
  return Number(
    (roundDigits.reduce((one, other) => (distance(other) < distance(one) ? other : one)) * unit).toPrecision(
      3,
    ),
  );
}

/** The class of a density, from 0. */
export function classOf(density: number, { breaks }: Scale): number {
  let index = 0;
  while (index < breaks.length && density >= (breaks[index] ?? 0)) index++;
  return index;
}

/** The colours of a scale's classes. The highest class has the most contrast with the ground. */
export function coloursOf({ breaks, isOfDifferences = false }: Scale, isDark: boolean): readonly string[] {
  const { from, to } = shownPart;
  const colourAt = (place: number) => {
    if (isOfDifferences) return mixed(isDark ? purpleToOrange.dark : purpleToOrange.light, place);
    return mixed(magma, from + (isDark ? place : 1 - place) * (to - from));
  };
  // A few classes are alike: they have a part of the colours, around that of a single one.
  const alone = isOfDifferences ? 0.5 : 0.7;
  const share = Math.min(1, breaks.length / (leastClasses - 1));
  return Array.from({ length: breaks.length + 1 }, (_, index) =>
    colourAt(alone * (1 - share) + share * (breaks.length === 0 ? 0 : index / breaks.length)),
  );
}

/** The colour at a place between 0 and 1 in a row of colours. */
function mixed(colours: readonly string[], place: number): string {
  const at = place * (colours.length - 1);
  const [low, high] = [colours[Math.floor(at)], colours[Math.ceil(at)]].map(bytesOf);
  const share = at - Math.floor(at);
  const bytes = (low ?? []).map((byte, index) => Math.round(byte + share * ((high?.[index] ?? byte) - byte)));
  return `#${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

function bytesOf(colour = "#000000"): number[] {
  return (colour.match(/[\da-f]{2}/g) ?? []).map((digits) => Number.parseInt(digits, 16));
}
