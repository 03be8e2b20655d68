import { dayMilliseconds, dayOf, hourMilliseconds } from "../../../../shared/calendar.ts";
import { weeksRemembered } from "../../privacy/typical-week.ts";
import { hoursPerDay } from "../../tiles/tile.ts";
import type { TypicalWeek } from "../../tiles/typical-calendar.ts";
import { type Figures, hasHour } from "./figures.ts";

/** A day before the judged one, as it is published. */
export interface EarlierDay {
  readonly date: string;
  /** Figures of its parts. */
  readonly figures: readonly Figures[];
}

/** An hour next to the same typical hour of earlier weeks: of tiles that had the same cells in each of them. */
export interface ComparedHour {
  /** 0…23 UTC. */
  readonly hour: number;
  /** The hour in each week, the latest first. */
  readonly weeks: readonly UsualHour[];
  readonly now: UsualHour;
  readonly cells: number;
  readonly tiles: number;
  readonly emptyTiles: number;
  /** The people that empty tiles usually have. */
  readonly emptyPeople: number;
}

/** What is published of some tiles in an hour. */
interface UsualHour {
  readonly people: number;
  /** Cells with a number. */
  readonly numbers: number;
  readonly largest: number;
}

/** Fewer weeks say nothing about what is usual. */
export const leastWeeks = 2;

/** Six weeks: four of them remain when a holiday falls on a weekday. */
const daysCompared = 42;

/** The middle value; the mean of the two middle values of an even number. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? Number.NaN) + (sorted[Math.floor(middle)] ?? Number.NaN)) / 2;
}

/** The median of the distances from a median, as that of a normal distribution is to its standard deviation. */
export function deviationOf(values: readonly number[], middle: number): number {
  const deviationPerMedianDistance = 1.4826;
  return deviationPerMedianDistance * median(values.map((value) => Math.abs(value - middle)));
}

/** The first hour of a day, UTC, counted from 1970-01-01T00:00Z. */
export function firstHourOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`) / hourMilliseconds;
}

/** The hours of a date by the typical hours that they belong to. */
function byTypicalHour(date: string, week: TypicalWeek): ReadonlyMap<number, number> {
  const first = firstHourOf(date);
  const hours = Array.from(
    { length: hoursPerDay },
    (_, hour) => [typicalHour(first + hour, week), hour] as const,
  );
  // An hour that the clock repeats is its first one.
  return new Map(hours.toReversed());
}

function typicalHour(hour: number, week: TypicalWeek): number {
  const { weekday, ofDay } = week.hourOf(hour);
  return weekday * hoursPerDay + ofDay;
}

/** The dates before a day that have any of its typical hours, the latest first. */
export function datesCompared(date: string, week: TypicalWeek): string[] {
  const own = byTypicalHour(date, week);
  const midnight = Date.parse(`${date}T00:00:00Z`);
  const before = Array.from({ length: daysCompared }, (_, day) =>
    dayOf(new Date(midnight - (day + 1) * dayMilliseconds)),
  );
  return before.filter((each) => [...byTypicalHour(each, week).keys()].some((typical) => own.has(typical)));
}

/** A tile in the figures of a part. */
interface FiguresOfTile {
  readonly of: Figures;
  readonly tile: number;
}

/** Compares the hours of a day with those of earlier weeks. */
export class UsualHours {
  readonly #week: TypicalWeek;
  readonly #first: number;
  readonly #now: readonly FiguresOfTile[];
  /** The latest first. */
  readonly #earlier: readonly {
    readonly hours: ReadonlyMap<number, number>;
    /** Each tile of the judged day; undefined if it has other cells. */
    readonly sameTiles: readonly (FiguresOfTile | undefined)[];
  }[];

  constructor(date: string, now: readonly Figures[], earlier: readonly EarlierDay[], week: TypicalWeek) {
    this.#week = week;
    this.#first = firstHourOf(date);
    this.#now = tilesOf(now);
    this.#earlier = earlier
      .filter((day) => day.date < date)
      .sort((one, other) => (one.date < other.date ? 1 : -1))
      .map((day) => ({ hours: byTypicalHour(day.date, week), sameTiles: this.#sameTilesIn(day.figures) }));
  }

  #sameTilesIn(figures: readonly Figures[]): (FiguresOfTile | undefined)[] {
    const known = new Map(tilesOf(figures).map((tile) => [keyOf(tile), tile]));
    return this.#now.map((tile) => known.get(keyOf(tile)));
  }

  /** The weeks that have an hour in at least half of the tiles, with the figures of these. */
  #weeksOf(
    hour: number,
  ): { readonly hour: number; readonly sameTiles: readonly (FiguresOfTile | undefined)[] }[] {
    const typical = typicalHour(this.#first + hour, this.#week);
    const weeks = this.#earlier.flatMap(({ hours, sameTiles }) => {
      const then = hours.get(typical);
      if (then === undefined) return [];
      const there = sameTiles.map((tile) =>
        tile !== undefined && hasHour(tile.of, then) ? tile : undefined,
      );
      const count = there.reduce((sum, tile) => sum + Number(tile !== undefined), 0);
      return count * 2 >= this.#now.length && count > 0 ? [{ hour: then, sameTiles: there }] : [];
    });
    return weeks.slice(0, weeksRemembered);
  }

  /** In how many weeks most of the tiles have an hour. */
  weeksWith(hour: number): number {
    return this.#weeksOf(hour).length;
  }

  /** @returns undefined where fewer than two weeks have the hour. */
  compared(hour: number, tile: { readonly people: number; readonly left: number }): ComparedHour | undefined {
    const weeks = this.#weeksOf(hour);
    if (weeks.length < leastWeeks) return undefined;
    const now = new Sums();
    const sums = weeks.map(() => new Sums());
    let [cells, tiles, emptyTiles, emptyPeople] = [0, 0, 0, 0];
    for (const [index, figures] of this.#now.entries()) {
      if (weeks.some(({ sameTiles }) => sameTiles[index] === undefined)) continue;
      tiles++;
      cells += figures.of.cells[figures.tile] as number;
      const here = now.add(figures, hour);
      const usual = median(
        weeks.map(({ sameTiles, hour: then }, week) =>
          (sums[week] as Sums).add(sameTiles[index] as FiguresOfTile, then),
        ),
      );
      if (usual >= tile.people && here < tile.left * usual) {
        emptyTiles++;
        emptyPeople += usual;
      }
    }
    if (tiles === 0) return undefined;
    return { hour, weeks: sums, now, cells, tiles, emptyTiles, emptyPeople };
  }
}

class Sums implements UsualHour {
  people = 0;
  numbers = 0;
  largest = 0;

  /** @returns the people that are added. */
  add({ of, tile }: FiguresOfTile, hour: number): number {
    const at = tile * hoursPerDay + hour;
    const people = of.people[at] as number;
    this.people += people;
    this.numbers += of.numbers[at] as number;
    this.largest = Math.max(this.largest, of.largest[at] as number);
    return people;
  }
}

function tilesOf(figures: readonly Figures[]): FiguresOfTile[] {
  return figures.flatMap((of) => of.tiles.map((_, tile) => ({ of, tile })));
}

/** Tiles are the same if they have the same cells, counted with the same K. */
function keyOf({ of, tile }: FiguresOfTile): string {
  return `${of.tiles[tile]} ${of.fingerprints[tile]} ${of.threshold}`;
}
