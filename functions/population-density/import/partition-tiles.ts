import { suffixesOf } from "../cover/geohash.ts";
import { hoursPerDay } from "../tiles/tile.ts";
import { cellsPerTile } from "../tiles/tile-hour.ts";
import type { CountedHour, CountedTile } from "./counted.ts";
import { entry, numbersEach } from "./partitions.ts";

const tilesPerPartition = 32;
const slotsPerTile = cellsPerTile * hoursPerDay;
/** Cells and hours of a partition. */
export const slotsPerPartition = tilesPerPartition * slotsPerTile;

/** What the tiles of a partition have in common: a partition is of 32 tiles and a day. */
export function prefixOf(tile: string): string {
  return tile.slice(0, -1);
}

/** The first slot of a tile in its partition. */
export function firstSlotOf(tile: string): number {
  return Math.max(0, suffixesOf(1).indexOf(tile.slice(-1))) * slotsPerTile;
}

/** Where a row is. */
export interface Place {
  readonly file: number;
  readonly line: number;
}

/** What a row of a cell and hour that had one before is refused for. */
export const repeated = { column: "startTime", reason: "the same cell and hour as a row before" } as const;

/**
 * The rows of a partition whose cell and hour had one before.
 * @param seen of `slotsPerPartition` bytes, whatever is in it.
 */
export function* repeatsIn(entries: Iterable<Float64Array>, seen: Uint8Array): Generator<Place> {
  seen.fill(0);
  for (const numbers of entries) {
    for (let at = 0; at < numbers.length; at += numbersEach) {
      const slot = numbers[at + entry.slot] as number;
      if (seen[slot] === 1) {
        yield { file: numbers[at + entry.file] as number, line: numbers[at + entry.line] as number };
      }
      seen[slot] = 1;
    }
  }
}

/**
 * The hours of the tiles of a partition that have a row, by their first slot.
 * @param empty the hours of a tile without rows.
 */
export function countedIn(
  entries: Iterable<Float64Array>,
  empty: CountedTile["hours"],
): Map<number, CountedTile["hours"]> {
  const tiles = new Map<number, (CountedHour | undefined)[]>();
  for (const numbers of entries) {
    for (let at = 0; at < numbers.length; at += numbersEach) {
      const slot = numbers[at + entry.slot] as number;
      const counted = hourOf(tiles, slot, empty);
      const cell = Math.floor(slot / hoursPerDay) % cellsPerTile;
      counted.people[cell] = numbers[at + entry.people] as number;
      counted.min[cell] = numbers[at + entry.min] as number;
      counted.max[cell] = numbers[at + entry.max] as number;
    }
  }
  return tiles;
}

/** The hour of a slot among those of the tiles of a partition, which are by their first slots. */
function hourOf(
  tiles: Map<number, (CountedHour | undefined)[]>,
  slot: number,
  empty: CountedTile["hours"],
): CountedHour {
  const firstSlot = slot - (slot % slotsPerTile);
  let hours = tiles.get(firstSlot);
  if (hours === undefined) {
    hours = [...empty];
    tiles.set(firstSlot, hours);
  }
  const known = hours[slot % hoursPerDay];
  if (known !== undefined && known !== nobody) return known;
  const counted = emptyHour();
  hours[slot % hoursPerDay] = counted;
  return counted;
}

function emptyHour(): CountedHour {
  // One buffer: three would be collected more often.
  const { buffer } = new Float64Array(3 * cellsPerTile);
  const numbers = (index: number) =>
    new Float64Array(buffer, index * cellsPerTile * Float64Array.BYTES_PER_ELEMENT, cellsPerTile);
  return { people: numbers(0), min: numbers(1), max: numbers(2) };
}

/** Shared by all tiles and hours without a row. */
const nobody = emptyHour();

/**
 * A tile's day without rows; hours and tiles share it.
 * @param hours a bit for each hour that is counted.
 */
export function emptyDay(hours: number): CountedTile["hours"] {
  return Array.from({ length: hoursPerDay }, (_, hour) => (((hours >> hour) & 1) === 1 ? nobody : undefined));
}
