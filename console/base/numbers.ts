const grouped = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 3 });

/** A number without decimals, its thousands separated: `1,234`. */
export function whole(value: number): string {
  return grouped.format(value);
}

/** A number to three digits, its thousands separated: `354,000`. */
export function about(value: number): string {
  return whole(Number(value.toPrecision(3)));
}

/** A large number in three digits: `2.05 M`, `453 k`. */
export function compact(value: number): string {
  if (value >= 999_500) return `${short.format(value / 1_000_000)} M`;
  return value >= 1_000 ? `${short.format(value / 1_000)} k` : short.format(value);
}

/** A text with separators in its large numbers: `40000 cells` is `40,000 cells`. */
export function separated(text: string): string {
  return text.replace(/(?<![\d.,:/-])\d{5,}(?![\d.:/-]*\d)/g, (digits) => whole(Number(digits)));
}

/** A length with its unit, to three digits: `107 m`, `4.89 km`. */
export function metres(value: number): string {
  return value >= 1_000 ? `${short.format(value / 1_000)} km` : `${short.format(value)} m`;
}

/** A count with its noun: `1 cell`, `2 cells`. */
export function counted(count: number, noun: string): string {
  return `${whole(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** An area with its unit, to three digits: `0.0163 km²`. */
export function squareKilometres(km2: number): string {
  return `${short.format(km2)} km²`;
}

/** A share in two digits: `25 %`. */
export function percent(share: number): string {
  return `${Number((share * 100).toPrecision(2))} %`;
}
