/** The first of some names, and how many more there are: `a, b, c, d, e, 3 more`. */
export function listed(names: Iterable<string>): string {
  const all = [...names];
  const shown = all.slice(0, 5);
  const more = all.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}
