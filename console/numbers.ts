const grouped = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 3 });

/** A number without decimals, its thousands separated: `1,234`. */
export function whole(value: number): string {
  return grouped.format(value);
}

/** A length with its unit, to three digits: `107 m`, `4.89 km`. */
export function metres(value: number): string {
  return value >= 1_000 ? `${short.format(value / 1_000)} km` : `${short.format(value)} m`;
}

/** A count with its noun: `1 cell`, `2 cells`. */
export function counted(count: number, noun: string): string {
  return `${whole(count)} ${noun}${count === 1 ? "" : "s"}`;
}
