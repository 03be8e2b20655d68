/**
 * What a judgement compares: sums of published numbers, tile by tile and hour by hour. Suppressed cells are counted and
 * never added up, so the figures follow from the cells that have a number.
 */
import { crc32 } from "node:zlib";
import type { CountedTile } from "../../privacy/counted.ts";
import { hoursPerDay, isCovered } from "../../tiles/tile.ts";
import { cellsPerTile } from "../../tiles/tile-hour.ts";

/** How counts are published. */
export interface FigureRules {
  /** K. */
  readonly threshold: number;
  readonly marketShare?: number | undefined;
}

/** The figures of one part of a day. Each array has 24 numbers for each tile, or one. */
export interface Figures {
  /** K. */
  readonly threshold: number;
  /** A bit for each hour that is counted, 0…23 UTC. */
  readonly hours: number;
  /** Ascending. */
  readonly tiles: readonly string[];
  /** Covered cells. */
  readonly cells: Uint16Array;
  /** Fingerprints of the covered cells: tiles with other cells are not compared. */
  readonly fingerprints: Uint32Array;
  /** People in cells with a number, extrapolated and rounded in each cell. */
  readonly people: Uint32Array;
  /** Cells with a number; the others are suppressed. */
  readonly numbers: Uint16Array;
  /** People in the largest cell; 0 if no cell has a number. */
  readonly largest: Uint32Array;
}

/** What is published of a tile in each hour. */
export interface TileSums {
  readonly people: ArrayLike<number>;
  readonly numbers: ArrayLike<number>;
  readonly largest: ArrayLike<number>;
}

const maxPeople = 2 ** 32 - 1;

/** Puts the figures of a part together, tile by tile in ascending order. */
export class FiguresOfPart {
  readonly #rules: FigureRules;
  readonly #hours: number;
  readonly #tiles: string[] = [];
  readonly #cells: Uint16Array;
  readonly #fingerprints: Uint32Array;
  readonly #people: Uint32Array;
  readonly #numbers: Uint16Array;
  readonly #largest: Uint32Array;

  /** @param hours a bit for each hour that is counted. @param maxTiles no more are added. */
  constructor(rules: FigureRules, hours: number, maxTiles: number) {
    this.#rules = rules;
    this.#hours = hours;
    this.#cells = new Uint16Array(maxTiles);
    this.#fingerprints = new Uint32Array(maxTiles);
    this.#people = new Uint32Array(maxTiles * hoursPerDay);
    this.#numbers = new Uint16Array(maxTiles * hoursPerDay);
    this.#largest = new Uint32Array(maxTiles * hoursPerDay);
  }

  /** @param coverage the cells of the part. @param sums of these cells; undefined if none has a row. */
  add(geohash: string, coverage: Uint8Array, sums: TileSums | undefined): void {
    const { marketShare = 1 } = this.#rules;
    const tile = this.#tiles.push(geohash) - 1;
    this.#cells[tile] = cellsOf(coverage);
    this.#fingerprints[tile] = crc32(coverage);
    if (sums === undefined) return;
    for (let hour = 0, at = tile * hoursPerDay; hour < hoursPerDay; hour++, at++) {
      this.#people[at] = Math.min(Math.round((sums.people[hour] as number) / marketShare), maxPeople);
      this.#numbers[at] = sums.numbers[hour] as number;
      this.#largest[at] = Math.min(Math.round((sums.largest[hour] as number) / marketShare), maxPeople);
    }
  }

  figures(): Figures {
    const count = this.#tiles.length;
    return {
      threshold: this.#rules.threshold,
      hours: this.#hours,
      tiles: this.#tiles,
      cells: this.#cells.subarray(0, count),
      fingerprints: this.#fingerprints.subarray(0, count),
      people: this.#people.subarray(0, count * hoursPerDay),
      numbers: this.#numbers.subarray(0, count * hoursPerDay),
      largest: this.#largest.subarray(0, count * hoursPerDay),
    };
  }
}

/** What is published of some cells of a counted tile. */
export function sumsOfCells(
  { hours }: Pick<CountedTile, "hours">,
  coverage: Uint8Array,
  { threshold }: FigureRules,
): TileSums {
  const people = new Float64Array(hoursPerDay);
  const numbers = new Uint16Array(hoursPerDay);
  const largest = new Float64Array(hoursPerDay);
  for (const [hour, counted] of hours.entries()) {
    for (let cell = 0; counted !== undefined && cell < cellsPerTile; cell++) {
      const count = counted.people[cell] as number;
      if (count < threshold || !isCovered(coverage, cell)) continue;
      people[hour] = (people[hour] as number) + Math.round(count);
      numbers[hour] = (numbers[hour] as number) + 1;
      largest[hour] = Math.max(largest[hour] as number, count);
    }
  }
  return { people, numbers, largest };
}

function cellsOf(coverage: Uint8Array): number {
  let cells = 0;
  for (let byte of coverage) for (; byte > 0; byte &= byte - 1) cells++;
  return cells;
}

/** Figures of some tiles after each other: all of one part, in ascending order and of the same hours. */
export function joined(some: readonly Figures[]): Figures {
  const count = some.reduce((sum, { tiles }) => sum + tiles.length, 0);
  const whole = {
    threshold: some[0]?.threshold ?? 0,
    hours: some[0]?.hours ?? 0,
    tiles: some.flatMap(({ tiles }) => tiles),
    cells: new Uint16Array(count),
    fingerprints: new Uint32Array(count),
    people: new Uint32Array(count * hoursPerDay),
    numbers: new Uint16Array(count * hoursPerDay),
    largest: new Uint32Array(count * hoursPerDay),
  };
  let at = 0;
  for (const { tiles, cells, fingerprints, people, numbers, largest } of some) {
    whole.cells.set(cells, at);
    whole.fingerprints.set(fingerprints, at);
    whole.people.set(people, at * hoursPerDay);
    whole.numbers.set(numbers, at * hoursPerDay);
    whole.largest.set(largest, at * hoursPerDay);
    at += tiles.length;
  }
  return whole;
}

/** Figures of some of the tiles. */
export function someOf(
  { threshold, hours, tiles, cells, fingerprints, people, numbers, largest }: Figures,
  from: number,
  to: number,
): Figures {
  return {
    threshold,
    hours,
    tiles: tiles.slice(from, to),
    cells: cells.slice(from, to),
    fingerprints: fingerprints.slice(from, to),
    people: people.slice(from * hoursPerDay, to * hoursPerDay),
    numbers: numbers.slice(from * hoursPerDay, to * hoursPerDay),
    largest: largest.slice(from * hoursPerDay, to * hoursPerDay),
  };
}

/** Whether an hour, 0…23 UTC, is counted. */
export function hasHour({ hours }: Pick<Figures, "hours">, hour: number): boolean {
  return ((hours >> hour) & 1) === 1;
}

/**
 * The figures of a part after an import has published some of its hours again: the other hours stay.
 * @param before of the same part.
 */
export function withOtherHours(now: Figures, before: Figures | undefined): Figures {
  if (before === undefined || (before.hours & ~now.hours) === 0) return now;
  const all = someOf(now, 0, now.tiles.length);
  for (let hour = 0; hour < hoursPerDay; hour++) {
    if (hasHour(now, hour) || !hasHour(before, hour)) continue;
    for (let at = hour; at < all.people.length; at += hoursPerDay) {
      all.people[at] = before.people[at] as number;
      all.numbers[at] = before.numbers[at] as number;
      all.largest[at] = before.largest[at] as number;
    }
  }
  return { ...all, hours: now.hours | before.hours };
}

/** What is published of a part in a day. */
export interface PartSummary {
  /** Hours that are counted. */
  readonly hours: number;
  /** The mean over these hours of the people in cells with a number. */
  readonly people: number;
  readonly cells: number;
  /** Suppressed cells of all counted hours together. */
  readonly suppressed: number;
}

/** Sums up the figures of a part. */
export function summaryOf(figures: Figures): PartSummary {
  const hours = Array.from({ length: hoursPerDay }, (_, hour) => hour).filter((hour) =>
    hasHour(figures, hour),
  );
  const cells = figures.cells.reduce((sum, each) => sum + each, 0);
  const people = figures.people.reduce((sum, each) => sum + each, 0);
  const numbers = figures.numbers.reduce((sum, each) => sum + each, 0);
  return {
    hours: hours.length,
    people: hours.length === 0 ? 0 : Math.round(people / hours.length),
    cells,
    suppressed: cells * hours.length - numbers,
  };
}

// Encoded figures: K, hours, tiles, the length of a geohash, 4 bytes each; the geohashes; the arrays in their order.
const headNumbers = 4;

/** The bytes of figures. */
export function encodeFigures({ threshold, hours, tiles, ...arrays }: Figures): Uint8Array {
  const { cells, fingerprints, people, numbers, largest } = arrays;
  const head = Uint32Array.of(threshold, hours, tiles.length, tiles[0]?.length ?? 0);
  const text = Buffer.from(tiles.join(""), "latin1");
  const parts = [head, text, cells, fingerprints, people, numbers, largest];
  return Buffer.concat(
    parts.map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength)),
  );
}

/** The figures that `encodeFigures` wrote. */
export function decodeFigures(bytes: Uint8Array): Figures {
  // A copy that begins where any array of numbers may.
  const { buffer } = new Uint8Array(bytes);
  const [threshold = 0, hours = 0, count = 0, length = 0] = new Uint32Array(buffer, 0, headNumbers);
  let at = 4 * headNumbers;
  const take = (size: number) => {
    const from = at;
    at += size;
    return buffer.slice(from, at);
  };
  const text = Buffer.from(take(count * length)).toString("latin1");
  const slots = count * hoursPerDay;
  const figures = {
    threshold,
    hours,
    tiles: Array.from({ length: count }, (_, tile) => text.slice(tile * length, (tile + 1) * length)),
    cells: new Uint16Array(take(2 * count)),
    fingerprints: new Uint32Array(take(4 * count)),
    people: new Uint32Array(take(4 * slots)),
    numbers: new Uint16Array(take(2 * slots)),
    largest: new Uint32Array(take(4 * slots)),
  };
  if (at !== buffer.byteLength) throw new Error("figures of a day have a wrong length");
  return figures;
}
