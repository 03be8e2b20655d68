import { suffixesOf } from "../../cover/geohash.ts";

/** The prefix of a tile's partition: a partition holds one day of the 32 tiles with the same prefix. */
export function prefixOf(tile: string): string {
  return tile.slice(0, -1);
}

// A row key is a row's tile, hour and cell within its partition in one number, from the highest bits to the lowest.
const cellBits = 10;
const hourBits = 5;
const tileBits = 5;

/** Bits of a slot. */
export const slotBits = tileBits + hourBits + cellBits;

/** More than a partition has: days have fewer hours than there are numbers for them. */
export const slotsPerPartition = 2 ** slotBits;

const slotsPerTile = 2 ** (hourBits + cellBits);

/** The first slot of a tile in its partition. */
export function firstSlotOf(tile: string): number {
  return Math.max(0, suffixesOf(1).indexOf(tile.slice(-1))) * slotsPerTile;
}

/** The slot of a cell in an hour of the tile that has the first slot. */
export function slotOf(firstSlot: number, hour: number, cell: number): number {
  return firstSlot | (hour << cellBits) | cell;
}

/** The first slot of the tile that a slot is in. */
export function firstSlotIn(slot: number): number {
  return slot & -slotsPerTile;
}

/** The hour of a slot, from 0 to 23. */
export function hourIn(slot: number): number {
  return (slot >> cellBits) & (2 ** hourBits - 1);
}

/** The cell of a slot in its tile. */
export function cellIn(slot: number): number {
  return slot & (2 ** cellBits - 1);
}
