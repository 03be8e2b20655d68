import { hoursPerDay } from "../../functions/population-density/tiles/tile.ts";
import { cellsPerTile, TileHour } from "../../functions/population-density/tiles/tile-hour.ts";
import { hourMilliseconds } from "../../shared/calendar.ts";

/** The characters of a geohash. */
export const alphabet = "0123456789bcdefghjkmnpqrstuvwxyz";

/** Bytes. */
export const mebibyte = 2 ** 20;

/** The cells of a whole tile. */
const everyCell = Uint16Array.from({ length: cellsPerTile }, (_, cell) => cell);

interface Density {
  readonly value: number;
  readonly minimum: number;
  readonly maximum: number;
}

/**
 * People per km² around a centre that all tiles have: they come and go over the day, no two cells are the same, the
 * range is that of a sample. One cell in 64 has no data.
 */
function densityOf(tile: number, hour: number, cell: number): Density | undefined {
  const [east, north] = [cell & 0b0101010101, cell & 0b1010101010];
  if (cell % 64 === 63) return undefined;
  const hash = Math.imul(cell + 1_024 * (tile + 64 * hour), 0x9e3779b1) >>> 0;
  const smooth = 9_000 * Math.exp(-((east - 200) ** 2 + (north - 300) ** 2) / 80_000 - tile / 24);
  const value = smooth * (1 + 0.3 * Math.sin(hour / 4)) * (0.95 + hash / 2 ** 32 / 10);
  const error = 10 * Math.sqrt(value);
  return { value, minimum: Math.max(0, value - error), maximum: value + error };
}

const minDensity = 50;

function tileHourOf(tile: number, hour: number): TileHour {
  const tileHour = new TileHour();
  for (const cell of everyCell) {
    const density = densityOf(tile, hour, cell);
    if (density === undefined) continue;
    const { value, minimum, maximum } = density;
    if (value < minDensity) tileHour.setSuppressed(cell);
    else tileHour.setEstimate(cell, value, minimum, maximum);
  }
  return tileHour;
}

/** A day of one of the city's tiles, by its position. */
export function dayOf(tile: number): readonly TileHour[] {
  return Array.from({ length: hoursPerDay }, (_, hour) => tileHourOf(tile, hour));
}

/** Hours since the epoch. */
const firstHour = Date.UTC(2026, 10, 20) / hourMilliseconds;

/** The first hours. */
export function firstHours(count: number): readonly number[] {
  return Array.from({ length: count }, (_, hour) => firstHour + hour);
}

/** The time at which an hour begins, as an answer writes it. */
export function timeOf(epochHour: number): string {
  return new Date(epochHour * hourMilliseconds).toISOString().replace(".000", "");
}
