import { hoursPerDay } from "../tiles/tile.ts";
import { cellsPerTile, noDataCode, noShare, suppressedCode, TileHour } from "../tiles/tile-hour.ts";
import { setPeople } from "./anonymous-tiles.ts";

/** The published values of a part in a tile. */
export interface MergedPart {
  /** The covered area of each cell, in km². */
  readonly areas: Float64Array;
  /** The maximum number of people in each cell if it is suppressed, in multiples of `boundPeople`. */
  readonly bounds: Uint32Array;
  /** The 24 hours of the day in UTC; undefined if the part was not counted in the hour. */
  readonly hours: readonly (TileHour | undefined)[];
  /** K, scaled up by the market share. */
  readonly boundPeople: number;
}

/**
 * Merges the published values of several parts, and nothing else, into a tile's day. A cell that several parts share
 * has the sum of their people by the sum of their areas, and is suppressed if it is suppressed in all of them. If it is
 * suppressed in some, each of those contributes a range from 0 to its maximum, and half of the maximum as value. The
 * ends of ranges are added, because they may be bounds of groups. A part that was not counted in an hour is left out.
 * @param parts at least one, in an order that depends only on the parts.
 * @param wholeAreas the area of each cell of the tile, in km².
 * @returns the hours of a single part unchanged.
 */
export function mergedHours(
  parts: readonly MergedPart[],
  wholeAreas: Float64Array,
): (TileHour | undefined)[] {
  return Array.from({ length: hoursPerDay }, (_, hour) => {
    const counted = parts.flatMap((part) => {
      const ofPart = part.hours[hour];
      return ofPart === undefined ? [] : [{ ...part, hour: ofPart }];
    });
    if (counted.length < 2) return counted[0]?.hour;
    const merged = new TileHour();
    const hasShares = counted.some(({ hour: { shares } }) => shares !== undefined);
    for (let cell = 0; cell < cellsPerTile; cell++) {
      const here = counted.filter((part) => part.hour.codes[cell] !== noDataCode);
      if (here.length === 0) continue;
      setMerged(merged, cell, here);
      const area = here.reduce((sum, { areas }) => sum + (areas[cell] ?? 0), 0);
      if (hasShares) merged.setShare(cell, area / (wholeAreas[cell] ?? Number.NaN));
    }
    return merged;
  });
}

type CountedPart = MergedPart & { readonly hour: TileHour };

/** @param parts that have data of the cell: at least one. */
function setMerged(merged: TileHour, cell: number, parts: readonly CountedPart[]): void {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) copySlot(only.hour, merged, cell);
  else if (parts.every(({ hour }) => hour.codes[cell] === suppressedCode)) merged.setSuppressed(cell);
  else setSum(merged, cell, parts);
}

function setSum(merged: TileHour, cell: number, parts: readonly CountedPart[]): void {
  let [people, min, max, area] = [0, 0, 0, 0];
  for (const { hour, areas, bounds, boundPeople } of parts) {
    const here = areas[cell] ?? 0;
    area += here;
    if (hour.codes[cell] === suppressedCode) {
      const most = (bounds[cell] ?? 0) * boundPeople;
      people += most / 2;
      max += most;
    } else {
      people += hour.value(cell) * here;
      min += hour.minimum(cell) * here;
      max += hour.maximum(cell) * here;
    }
  }
  setPeople(merged, cell, { people, min, max }, area);
}

/**
 * Fills in an hour from another one: cells that are not the hour's own take the other's slots, if it has any.
 * @param isOwn whether a cell is the hour's own; by default, if the hour has a slot for it.
 * @returns the hour itself if the other one changes nothing.
 */
export function filledUp(
  hour: TileHour,
  other: TileHour,
  isOwn = (cell: number) => hour.codes[cell] !== noDataCode,
): TileHour {
  let filled = hour;
  for (let cell = 0; cell < cellsPerTile; cell++) {
    if (other.codes[cell] === noDataCode || isOwn(cell) || isSameSlot(hour, other, cell)) continue;
    if (filled === hour) filled = copyOf(hour);
    copySlot(other, filled, cell);
  }
  return filled;
}

function isSameSlot(one: TileHour, other: TileHour, cell: number): boolean {
  return (
    one.codes[cell] === other.codes[cell] &&
    one.below[cell] === other.below[cell] &&
    one.above[cell] === other.above[cell] &&
    one.shares?.[cell] === other.shares?.[cell]
  );
}

function copyOf(hour: TileHour): TileHour {
  const copy = new TileHour();
  copy.codes.set(hour.codes);
  copy.below.set(hour.below);
  copy.above.set(hour.above);
  copy.shares = hour.shares && new Uint16Array(hour.shares);
  return copy;
}

function copySlot(from: TileHour, to: TileHour, cell: number): void {
  to.codes[cell] = from.codes[cell] ?? noDataCode;
  to.below[cell] = from.below[cell] ?? 0;
  to.above[cell] = from.above[cell] ?? 0;
  if (from.shares === undefined && to.shares === undefined) return;
  to.shares ??= new Uint16Array(cellsPerTile);
  to.shares[cell] = from.shares?.[cell] ?? noShare;
}
