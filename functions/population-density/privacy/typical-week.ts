import { hoursPerDay, type TileDay } from "../tiles/tile.ts";
import { cellsPerTile, noDataCode, suppressedCode, TileHour } from "../tiles/tile-hour.ts";

/** Days of one weekday that its typical day is made from. */
export const weeksRemembered = 4;

/** The weekday of a date, `YYYY-MM-DD` in UTC: 1 for Monday to 7 for Sunday. */
export function weekdayOf(date: string): number {
  return new Date(`${date}T00:00:00Z`).getUTCDay() || 7;
}

/**
 * What is typical of a tile's weekday, from what was published of a few such days and from nothing else, so that it
 * discloses no more than they do. Slot by slot, the days that know nothing are left out. A slot that is suppressed on
 * at least half of the others is suppressed; else it is the mean of the estimates, from the lowest of their minimums,
 * or 0 if it was ever suppressed, to the highest of their maximums.
 * @returns 24 hours; undefined for an hour that no day knows.
 */
export function typicalHours(observed: readonly TileDay[]): (TileHour | undefined)[] {
  return Array.from({ length: hoursPerDay }, (_, hour) => {
    const known = observed.map((day) => day.openHour(hour)).filter((opened) => opened !== undefined);
    // The mean of one day is that day, bit by bit.
    return known.length < 2 ? known[0] : typicalHour(known);
  });
}

function typicalHour(hours: readonly TileHour[]): TileHour {
  const typical = new TileHour();
  for (let cell = 0; cell < cellsPerTile; cell++) setTypical(typical, cell, hours);
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
