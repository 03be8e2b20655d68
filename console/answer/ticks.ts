/** Round numbers, two to four steps apart, of which the first is at most `min` and the last at least `max`. */
export function ticksFor(min: number, max: number): number[] {
  if (!Number.isFinite(min) || !Number.isFinite(max)) return [0, 10];
  const span = Math.max(max - min, max / 10, 1);
  const unit = 10 ** Math.floor(Math.log10(span / 3));
  const step = unit * ([1, 2, 5, 10].find((factor) => factor * unit >= span / 3) ?? 10);
  const [first, last] = [Math.floor(min / step), Math.max(Math.ceil(max / step), Math.floor(min / step) + 1)];
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
}
