import {
  type Figures,
  FiguresOfPart,
  sumsOfCells,
} from "../../../../functions/population-density/import/judge/figures.ts";
import { noRows, type RowFigures } from "../../../../functions/population-density/import/judge/row-sums.ts";
import type { CountedHour } from "../../../../functions/population-density/privacy/counted.ts";
import { coverageBytes, hoursPerDay } from "../../../../functions/population-density/tiles/tile.ts";
import { cellsPerTile } from "../../../../functions/population-density/tiles/tile-hour.ts";

/** K. */
const threshold = 10;
const tiles = 16;
const wholeTile = new Uint8Array(coverageBytes).fill(255);

/** A cell in an hour. */
interface Slot {
  readonly tile: number;
  readonly cell: number;
  readonly hour: number;
}

/** What is wrong with a day. */
export interface Fault {
  readonly name: string;
  /** The day whose people are taken; the day itself if absent. */
  readonly from?: (day: number) => number;
  /** So many hours too early is what is counted. */
  readonly shift?: number;
  /** The people of a cell instead of those that are there; undefined: there is no row. */
  readonly people?: (people: number, slot: Slot) => number | undefined;
  /** Whether an hour is in the files. */
  readonly hasHour?: (hour: number) => boolean;
}

/** A day as an import has it when it judges. */
export interface CountedFigures {
  readonly figures: Figures;
  readonly rows: RowFigures;
}

/** A made-up city of 16 tiles: busy around its centre, by day and on weekdays. The same seed counts the same. */
export class JudgedCity {
  readonly #base: readonly Float64Array[];
  readonly #seed: number;
  readonly #noise: number;

  /** @param noise how much counts are off, by 3 % from day to day if it is 1. */
  constructor(seed: number, noise: number) {
    this.#seed = seed;
    this.#noise = noise;
    const random = numbersFrom(seed);
    this.#base = Array.from({ length: tiles }, (_, tile) => {
      const distance = Math.hypot((tile % 4) - 1.5, Math.floor(tile / 4) - 1.5);
      // Some cells are parks and fields, some are stations.
      return Float64Array.from({ length: cellsPerTile }, () =>
        random() < 0.25 ? 8 * random() : 120 * Math.exp(normal(random) * 0.9 - distance),
      );
    });
  }

  /** Counts a day, numbered from a Monday. */
  count(
    day: number,
    { from = (same) => same, shift = 0, people = (same) => same, hasHour = () => true }: Partial<Fault> = {},
  ): CountedFigures {
    const taken = from(day);
    const random = numbersFrom(this.#seed * 1_000 + taken);
    const off = (deviation: number) => 1 + this.#noise * deviation * normal(random);
    const ofDay = off(0.03);
    const ofHours = Array.from({ length: hoursPerDay }, () => ofDay * off(0.015));
    const hours = Array.from({ length: hoursPerDay }, (_, hour) => hour).filter(hasHour);
    const bits = hours.reduce((all, hour) => all | (1 << hour), 0);
    const part = new FiguresOfPart({ threshold }, bits, tiles);
    const rows = noRows();
    for (const [tile, base] of this.#base.entries()) {
      const ofTile = off(0.03);
      const counted: (CountedHour | undefined)[] = Array(hoursPerDay).fill(undefined);
      for (const hour of hours) {
        const there = new Float64Array(cellsPerTile);
        const level = (ofHours[hour] as number) * ofTile * activity(taken, (hour + shift) % hoursPerDay);
        for (let cell = 0; cell < cellsPerTile; cell++) {
          const expected = level * (base[cell] as number);
          const found = Math.max(0, Math.round(expected + Math.sqrt(expected) * normal(random)));
          const counted = people(found, { tile, cell, hour });
          if (counted === undefined) continue;
          there[cell] = counted;
          addRow(rows, hour, counted);
        }
        counted[hour] = { people: there, min: there, max: there };
      }
      const sums = sumsOfCells({ hours: counted }, wholeTile, { threshold });
      part.add(`u05k${tile.toString(16)}`, wholeTile, sums);
    }
    return { figures: part.figures(), rows };
  }
}

/** How busy an hour is: little by night, most on the evenings of weekdays. */
function activity(day: number, hour: number): number {
  const isWeekend = day % 7 >= 5;
  const curve = 0.45 + 0.55 * Math.max(0, Math.sin(((hour - 5) / 19) * Math.PI)) ** 0.7;
  return curve * (isWeekend ? (hour < 9 ? 0.75 : 0.85) : 1);
}

function addRow(
  { rows, withPeople, least, most, numbers, leastNumber }: RowFigures,
  hour: number,
  people: number,
): void {
  const add = (sums: number[]) => {
    sums[hour] = (sums[hour] as number) + 1;
  };
  add(rows);
  if (people === 0) return;
  add(withPeople);
  least[hour] = Math.min(least[hour] as number, people);
  most[hour] = Math.max(most[hour] as number, people);
  if (people < threshold) return;
  add(numbers);
  leastNumber[hour] = Math.min(leastNumber[hour] as number, people);
}

/** Numbers from 0 to below 1, the same for the same seed (MINSTD). */
export function numbersFrom(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1;
  const next = () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
  for (let skipped = 0; skipped < 8; skipped++) next();
  return next;
}

/** Nearly normally distributed, with mean 0 and deviation 1. */
function normal(random: () => number): number {
  return (random() + random() + random() + random() - 2) * Math.sqrt(3);
}
