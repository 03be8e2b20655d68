import { cellsPerTile, suppressedCode, type TileHour } from "../tiles/tile-hour.ts";

/** Maximum relative error of a stored share, unless it is so small that the minimum is 0. */
const shareError = 2 ** -12;

/**
 * Turns the densities of the covered parts of cells into those that are answered: the people who were counted in a
 * cell, by its whole area. So density × area is a number of counted people at every precision, for any coverage of
 * the cells. The range begins with the fewest of these people by the whole area, and ends where it did: with the most,
 * by the covered area, as many as there are if the rest is populated alike. docs/suppression.md says why.
 *
 * Nothing but what is stored and the coverage is used, which are public, so nothing can be computed from the result
 * that could not be computed from these.
 * @param hour is changed.
 */
export function overWholeCells(hour: TileHour): TileHour {
  if (hour.shares === undefined) return hour;
  for (let cell = 0; cell < cellsPerTile; cell++) {
    const share = hour.share(cell);
    if (share === 1 || (hour.codes[cell] ?? 0) <= suppressedCode) continue;
    const minimum = hour.minimum(cell) * share * (1 - shareError);
    hour.setEstimate(cell, hour.value(cell) * share, minimum, hour.maximum(cell));
  }
  return hour;
}
