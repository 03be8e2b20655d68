import type { CountedHour, CountedTile } from "../../privacy/counted.ts";
import { hoursPerDay } from "../../tiles/tile.ts";
import { cellsPerTile } from "../../tiles/tile-hour.ts";
import type { Entries } from "../rows/entries.ts";
import { cellIn, firstKeyIn, hourIn } from "../rows/row-key.ts";

/** What a row of a cell and hour that had one before is refused for. */
export const repeated = { column: "startTime", reason: "the same cell and hour as a row before" } as const;

/**
 * The lines of the rows of a partition whose cell and hour had one before.
 * @param seen of `rowKeysPerPartition` bytes: 1 for each row key that was seen; set for those of the partition.
 */
export function* repeatsIn(partition: Iterable<Entries>, seen: Uint8Array): Generator<number> {
  for (const entries of partition) {
    for (let index = 0; index < entries.count; index++) {
      const key = entries.key(index);
      if (seen[key] === 1) yield entries.line(index);
      seen[key] = 1;
    }
  }
}

/**
 * The hours of the tiles of a partition that have a row, by their first row key.
 * @param empty the hours of a tile without rows.
 * @param memory of the hours; that of an earlier partition is used again, whose hours are no longer read.
 */
export function countedIn(
  partition: Iterable<Entries>,
  empty: CountedTile["hours"],
  memory = new HourMemory(),
): Map<number, CountedTile["hours"]> {
  memory.reuse();
  const tiles = new Map<number, (CountedHour | undefined)[]>();
  for (const entries of partition) {
    for (let index = 0; index < entries.count; index++) {
      const key = entries.key(index);
      const counted = hourOf(tiles, key, empty, memory);
      const cell = cellIn(key);
      counted.people[cell] = entries.people(index);
      counted.min[cell] = entries.min(index);
      counted.max[cell] = entries.max(index);
    }
  }
  return tiles;
}

/** The hour of a row key, added to the hours of its tile if need be. @param tiles by their first row key. */
function hourOf(
  tiles: Map<number, (CountedHour | undefined)[]>,
  key: number,
  empty: CountedTile["hours"],
  memory: HourMemory,
): CountedHour {
  const firstKey = firstKeyIn(key);
  let hours = tiles.get(firstKey);
  if (hours === undefined) {
    hours = [...empty];
    tiles.set(firstKey, hours);
  }
  const known = hours[hourIn(key)];
  if (known !== undefined && known !== nobody) return known;
  const counted = memory.emptyHour();
  hours[hourIn(key)] = counted;
  return counted;
}

function emptyHour(): CountedHour {
  // One buffer: three would be collected more often.
  const { buffer } = new Float64Array(3 * cellsPerTile);
  const numbers = (index: number) =>
    new Float64Array(buffer, index * cellsPerTile * Float64Array.BYTES_PER_ELEMENT, cellsPerTile);
  return { people: numbers(0), min: numbers(1), max: numbers(2) };
}

/** Memory of the hours of a partition, 24 KB each. */
export class HourMemory {
  readonly #hours: CountedHour[] = [];
  #used = 0;

  /** Gives the same hours once more: those that it has given must no longer be read. */
  reuse(): void {
    this.#used = 0;
  }

  emptyHour(): CountedHour {
    const known = this.#hours[this.#used++];
    if (known !== undefined) {
      for (const numbers of [known.people, known.min, known.max]) numbers.fill(0);
      return known;
    }
    const hour = emptyHour();
    this.#hours.push(hour);
    return hour;
  }
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
