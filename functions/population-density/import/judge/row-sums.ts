import { suffixesOf } from "../../cover/geohash.ts";
import { hoursPerDay } from "../../tiles/tile.ts";
import type { Entries } from "../rows/entries.ts";
import { firstKeyOf, slotOf, slotsPerPartition, slotsPerTile } from "../rows/row-key.ts";
import type { TileSums } from "./figures.ts";

/**
 * What the rows of the hours of a day are like, those of suppressed cells included. It is used during the import, and
 * neither stored nor told.
 */
export interface RowFigures {
  /** By hour, 0…23 UTC. */
  readonly rows: number[];
  /** Rows with people, and the fewest and the most people in any of them. */
  readonly withPeople: number[];
  readonly least: number[];
  readonly most: number[];
  /** Cells with a number, and the fewest people in any of them. */
  readonly numbers: number[];
  readonly leastNumber: number[];
}

function ofHours(value: number): number[] {
  return Array<number>(hoursPerDay).fill(value);
}

/** Figures of a day without rows. */
export function noRows(): RowFigures {
  return {
    rows: ofHours(0),
    withPeople: ofHours(0),
    least: ofHours(Number.MAX_VALUE),
    most: ofHours(0),
    numbers: ofHours(0),
    leastNumber: ofHours(Number.MAX_VALUE),
  };
}

/** Adds the rows of other cells of the same day. */
function addRowFigures(to: RowFigures, from: RowFigures): void {
  for (let hour = 0; hour < hoursPerDay; hour++) {
    for (const name of ["rows", "withPeople", "numbers"] as const) {
      to[name][hour] = (to[name][hour] as number) + (from[name][hour] as number);
    }
    to.most[hour] = Math.max(to.most[hour] as number, from.most[hour] as number);
    for (const name of ["least", "leastNumber"] as const) {
      to[name][hour] = Math.min(to[name][hour] as number, from[name][hour] as number);
    }
  }
}

/** Adds up the rows of a partition: slot by slot. */
export class RowSums {
  readonly #threshold: number;
  readonly #rows = new Uint32Array(slotsPerPartition);
  readonly #withPeople = new Uint32Array(slotsPerPartition);
  readonly #least = new Float64Array(slotsPerPartition);
  readonly #most = new Float64Array(slotsPerPartition);
  readonly #numbers = new Uint16Array(slotsPerPartition);
  readonly #leastNumber = new Float64Array(slotsPerPartition);
  readonly #people = new Float64Array(slotsPerPartition);

  /** @param threshold K. */
  constructor(threshold: number) {
    this.#threshold = threshold;
    this.#clear();
  }

  add(entries: Entries): void {
    // In variables: this loop takes every row of an import.
    const threshold = this.#threshold;
    const [rows, withPeople, least, most] = [this.#rows, this.#withPeople, this.#least, this.#most];
    const [numbers, leastNumber, sums] = [this.#numbers, this.#leastNumber, this.#people];
    for (let index = 0; index < entries.count; index++) {
      const slot = slotOf(entries.key(index));
      const people = entries.people(index);
      rows[slot] = (rows[slot] as number) + 1;
      if (people === 0) continue;
      withPeople[slot] = (withPeople[slot] as number) + 1;
      if (people < (least[slot] as number)) least[slot] = people;
      if (people > (most[slot] as number)) most[slot] = people;
      if (people < threshold) continue;
      numbers[slot] = (numbers[slot] as number) + 1;
      if (people < (leastNumber[slot] as number)) leastNumber[slot] = people;
      sums[slot] = (sums[slot] as number) + Math.round(people);
    }
  }

  /** What is published of the tiles with a prefix that have a row, by their geohashes. */
  *takeTiles(prefix: string): Generator<readonly [geohash: string, sums: TileSums]> {
    for (const character of suffixesOf(1)) {
      const geohash = prefix + character;
      const from = slotOf(firstKeyOf(geohash));
      const to = from + hoursPerDay;
      if (this.#rows.subarray(from, to).every((rows) => rows === 0)) continue;
      const largest = this.#most.slice(from, to).map((most) => (most < this.#threshold ? 0 : most));
      yield [
        geohash,
        { people: this.#people.slice(from, to), numbers: this.#numbers.slice(from, to), largest },
      ];
    }
  }

  /** Adds the rows of all tiles to others of their day, and forgets them. */
  takeRows(to: RowFigures): void {
    for (let tile = 0; tile < slotsPerPartition; tile += slotsPerTile) {
      const of = (sums: ArrayLike<number>) =>
        Array.from({ length: hoursPerDay }, (_, hour) => sums[tile + hour] as number);
      addRowFigures(to, {
        rows: of(this.#rows),
        withPeople: of(this.#withPeople),
        least: of(this.#least),
        most: of(this.#most),
        numbers: of(this.#numbers),
        leastNumber: of(this.#leastNumber),
      });
    }
    this.#clear();
  }

  #clear(): void {
    for (const sums of [this.#rows, this.#withPeople, this.#most, this.#numbers, this.#people]) sums.fill(0);
    this.#least.fill(Number.MAX_VALUE);
    this.#leastNumber.fill(Number.MAX_VALUE);
  }
}
