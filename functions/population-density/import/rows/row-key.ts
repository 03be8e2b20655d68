import { suffixesOf } from "../../cover/geohash.ts";

/** The prefix of a tile's partition: a partition holds one day of the 32 tiles with the same prefix. */
export function prefixOf(tile: string): string {
  return tile.slice(0, -1);
}

// A row key is a row's tile, hour and cell within its partition in one number, from the highest bits to the lowest.
const cellBits = 10;
const hourBits = 5;
const tileBits = 5;

/** Bits of a row key. */
export const rowKeyBits = tileBits + hourBits + cellBits;

/** Row keys below which all those of a partition are; some are unused, because five bits hold more than 24 hours. */
export const rowKeysPerPartition = 2 ** rowKeyBits;

const rowKeysPerTile = 2 ** (hourBits + cellBits);

/** Each tile and hour of a partition has a slot, in the order of row keys. */
export const slotsPerPartition = rowKeysPerPartition >> cellBits;

/** Slots of a tile; those behind the 24 hours are unused. */
export const slotsPerTile = 2 ** hourBits;

/** The slot of a row key. */
export function slotOf(key: number): number {
  return key >> cellBits;
}

/** The first row key of a tile in its partition. */
export function firstKeyOf(tile: string): number {
  return Math.max(0, suffixesOf(1).indexOf(tile.slice(-1))) * rowKeysPerTile;
}

/** The row key of a cell and hour of the tile that `firstKey` belongs to. */
export function rowKeyOf(firstKey: number, hour: number, cell: number): number {
  return firstKey | (hour << cellBits) | cell;
}

/** The first row key of the tile that a row key is in. */
export function firstKeyIn(key: number): number {
  return key & -rowKeysPerTile;
}

/** The hour of a row key, from 0 to 23. */
export function hourIn(key: number): number {
  return (key >> cellBits) & (2 ** hourBits - 1);
}

/** The cell of a row key in its tile. */
export function cellIn(key: number): number {
  return key & (2 ** cellBits - 1);
}
