/** Round numbers from zero, two to four steps apart, of which the last is at least `max`. */
export function ticksFor(max: number): number[] {
  if (!Number.isFinite(max)) return [0, 10];
  const span = Math.max(max, 1);
  const unit = 10 ** Math.floor(Math.log10(span / 3));
  const step = unit * ([1, 2, 5, 10].find((factor) => factor * unit >= span / 3) ?? 10);
  return Array.from({ length: Math.ceil(span / step) + 1 }, (_, index) => index * step);
}
