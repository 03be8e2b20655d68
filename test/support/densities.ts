import {
  cellOf,
  codeAt,
  geohashAt,
  gridOf,
  tileSide,
} from "../../functions/population-density/cover/geohash.ts";
import { hoursIn, spansOf } from "../../functions/population-density/tiles/span.ts";
import { tileName, typicalDay } from "../../functions/population-density/tiles/store.ts";
import { densities, type NewTileSpan } from "../../functions/population-density/tiles/table.ts";
import {
  encodeTileDay,
  hoursOf,
  hoursPerDay,
  readTileDay,
} from "../../functions/population-density/tiles/tile.ts";
import { TileHour } from "../../functions/population-density/tiles/tile-hour.ts";
import { putItem } from "../../shared/aws/database.ts";

/** A corner of an area. */
export interface Corner {
  readonly latitude: number;
  readonly longitude: number;
}

/** The precision of the tiles that tests store. */
export const precision = 7;

/** The files of a worker count on, though each has modules of its own. */
const worker = globalThis as typeof globalThis & { tilesGiven?: number };
worker.tilesGiven ??= Math.floor(1_024 * Math.random());

/**
 * The geohash of a tile at precision 7 that no other test and no demo data uses: from 45° S on, where each worker has a
 * row of its own: Vitest numbers files, and `same-environment.ts` keeps for a worker the number of its first.
 */
export function freshTile(): string {
  worker.tilesGiven = ((worker.tilesGiven ?? 0) + 1) % 1_024;
  return geohashAt(1_024 + 2 * Number(process.env.VITEST_WORKER_ID), 8 * worker.tilesGiven + 4, 5);
}

/**
 * A rectangle from the centre of one cell of a tile to the centre of another, as rows and columns from the south-west.
 */
export function boxIn(
  tile: string,
  [south, west]: [number, number],
  [north, east]: [number, number],
): Corner[] {
  const { row, column } = cellOf(tile);
  const { cellHeight, cellWidth } = gridOf(precision);
  const latitude = (inTile: number) => -90 + (row * tileSide + inTile + 0.5) * cellHeight;
  const longitude = (inTile: number) => -180 + (column * tileSide + inTile + 0.5) * cellWidth;
  return [
    { latitude: latitude(south), longitude: longitude(west) },
    { latitude: latitude(south), longitude: longitude(east) },
    { latitude: latitude(north), longitude: longitude(east) },
    { latitude: latitude(north), longitude: longitude(west) },
  ];
}

/** The index of a cell by its row and column in its tile. */
export function cellIn(row: number, column: number): number {
  return codeAt(row, column, precision);
}

/** The stored value of a cell: people per km², or `low` for too few people. */
export type Slot = number | "low";

/** The spans of all typical weekdays. */
export const typicalSpans = Array.from({ length: 7 }, (_, index) => spansOf(typicalDay(index + 1))).flat();

/**
 * Stores a day of a tile with the same slots in each of the given hours.
 * @param day `week#1` … `week#7`, or `day#YYYY-MM-DD`.
 */
export async function storeTile(
  tile: string,
  day: string,
  slots: ReadonlyMap<number, Slot>,
  hours: readonly number[] = Array.from({ length: hoursPerDay }, (_, hour) => hour),
): Promise<void> {
  const stored = new TileHour();
  for (const [cell, slot] of slots) {
    if (slot === "low") stored.setSuppressed(cell);
    else stored.setEstimate(cell, slot, slot, slot);
  }
  const known = Array.from({ length: hoursPerDay }, (_, hour) => (hours.includes(hour) ? stored : undefined));
  await putDay({ tile: tileName(precision, tile), day, madeFrom: [] }, known);
}

/** Stores a day of a tile, replacing a stored one. */
export async function putDay(
  { day, ...item }: Omit<NewTileSpan, "hours">,
  hours: readonly (TileHour | undefined)[],
  coverage?: Uint8Array,
): Promise<void> {
  const whole = readTileDay(encodeTileDay(hours, coverage));
  for (const span of spansOf(day)) {
    const ofSpan = encodeTileDay(hoursIn(span, hoursOf(whole)), whole.coverage);
    const stored = { ...item, day: span, hours: ofSpan, revision: 1 };
    await putItem(densities, stored, {}, AbortSignal.timeout(60_000));
  }
}
