import { cellsPerTile, noDataCode, suppressedCode, TileHour } from "../tiles/tile-hour.ts";

/** The maximum of days from which a typical weekday is derived. */
export const weeksRemembered = 4;

/** The weekday of a date, `YYYY-MM-DD` in UTC: 1 for Monday to 7 for Sunday. */
export function weekdayOf(date: string): number {
  return new Date(`${date}T00:00:00Z`).getUTCDay() || 7;
}

/**
 * The typical hour of a tile, derived only from the published values of that hour on a few days, so that it discloses
 * nothing more. For each slot, days without data are left out. If at least half of the others are suppressed, the slot
 * is suppressed. Otherwise it is the mean of the estimates, with a range from their lowest minimum, or 0 if any day is
 * suppressed, to their highest maximum. If other shares of a cell were covered on some days, its share and its minimum
 * are such that their products with the density are the mean, and at most the lowest, of those of the days.
 * @returns undefined for an hour without data on any day; the hour of a single day as it is.
 */
export function typicalHourOf(hours: readonly TileHour[]): TileHour | undefined {
  if (hours.length < 2) return hours[0];
  const typical = new TileHour();
  for (let cell = 0; cell < cellsPerTile; cell++) setTypical(typical, cell, hours);
  if (hours.every(({ shares }) => shares === undefined)) return typical;
  for (let cell = 0; cell < cellsPerTile; cell++) setTypicalShare(typical, cell, hours);
  return typical;
}

function setTypical(typical: TileHour, cell: number, hours: readonly TileHour[]): void {
  let suppressed = 0;
  let estimates = 0;
  let sum = 0;
  let min = Number.POSITIVE_INFINITY;
  let max = 0;
  for (const hour of hours) {
    const code = hour.codes[cell];
    if (code === noDataCode) continue;
    if (code === suppressedCode) {
      suppressed++;
      continue;
    }
    estimates++;
    sum += hour.value(cell);
    min = Math.min(min, hour.minimum(cell));
    max = Math.max(max, hour.maximum(cell));
  }
  if (suppressed + estimates === 0) return;
  if (suppressed >= estimates) typical.setSuppressed(cell);
  else typical.setEstimate(cell, sum / estimates, suppressed > 0 ? 0 : min, max);
}

/** Days on which the cell is of another kind than the slot do not count. */
function setTypicalShare(typical: TileHour, cell: number, hours: readonly TileHour[]): void {
  const kind = typical.kind(cell);
  if (kind === "NO_DATA") return;
  const known = hours.filter((hour) => hour.kind(cell) === kind);
  const shares = known.map((hour) => hour.share(cell));
  if (kind === "LOW_DENSITY" || shares.every((share) => share === shares[0])) {
    typical.setShare(cell, Math.max(...shares));
    return;
  }
  const densities = known.map((hour) => hour.value(cell));
  const sum = densities.reduce((all, density) => all + density, 0);
  const weights = sum === 0 ? known.map(() => 1 / known.length) : densities.map((density) => density / sum);
  const share = shares.reduce((all, each, index) => all + each * (weights[index] ?? 0), 0);
  const minima = known.map((hour) => (hour.minimum(cell) * hour.share(cell)) / share);
  typical.setShare(cell, share);
  const minimum = Math.min(typical.minimum(cell), ...minima);
  typical.setEstimate(cell, typical.value(cell), minimum, typical.maximum(cell));
}
