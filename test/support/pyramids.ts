import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect } from "vitest";
import { cellArea } from "../../functions/population-density/cover/cell-area.ts";
import { suffixesOf } from "../../functions/population-density/cover/geohash.ts";
import {
  type Anonymity,
  type AnonymousTile,
  anonymousTiles,
  type PublishedPart,
} from "../../functions/population-density/privacy/anonymous-tiles.ts";
import type { CountedDay, CountedTile } from "../../functions/population-density/privacy/counted.ts";
import {
  addToCoverage,
  coverageBytes,
  encodeTileDay,
} from "../../functions/population-density/tiles/tile.ts";
import { cellsPerTile } from "../../functions/population-density/tiles/tile-hour.ts";

/** K of what is published. */
export const threshold = 10;

/** People by geohash in the one hour that is counted; all keys of one length. */
export type People = ReadonlyMap<string, number>;

/** The error of a count. */
const errorOf = (people: number) => people / 4;

/** The hour of the day that is counted. */
export const countedHour = 5;

/** A day on which exactly these cells are covered. */
export function dayOf(people: People, precision: number): CountedDay & { readonly tiles: CountedTile[] } {
  const prefixes = [...new Set([...people.keys()].map((geohash) => tileOf(geohash)))].sort();
  const tiles = prefixes.map((geohash) => {
    const coverage = new Uint8Array(coverageBytes);
    const hour = {
      people: new Float64Array(cellsPerTile),
      min: new Float64Array(cellsPerTile),
      max: new Float64Array(cellsPerTile),
    };
    for (const [cell, count] of people) {
      if (tileOf(cell) !== geohash) continue;
      const index = suffixesOf(precision).indexOf(cell.slice(geohash.length));
      addToCoverage(coverage, index);
      hour.people[index] = count;
      hour.min[index] = count - errorOf(count);
      hour.max[index] = count + errorOf(count);
    }
    return { geohash, coverage, hours: hoursWith(hour) };
  });
  const coverage = new Map(tiles.map((tile) => [tile.geohash, tile.coverage]));
  return { date: "2026-11-20", precision, coverage, tiles };
}

function hoursWith<Hour>(hour: Hour): (Hour | undefined)[] {
  return Array.from({ length: 24 }, (_, index) => (index === countedHour ? hour : undefined));
}

function tileOf(geohash: string): string {
  return geohash.slice(0, Math.max(geohash.length - 2, 0));
}

/** All covered cells are one part. */
export const onePart = ({ coverage }: CountedTile) => [{ part: "all", coverage }];

/** The tiles with their only part. */
export async function tilesOf(
  day: Pick<CountedDay, "precision" | "tiles">,
  precisions: readonly number[],
  limits: Partial<Anonymity> = {},
): Promise<(Omit<AnonymousTile, "parts"> & PublishedPart)[]> {
  const tiles = [];
  for await (const { parts, ...tile } of anonymousTiles(day, { precisions, threshold, ...limits }, onePart)) {
    expect(parts).toHaveLength(1);
    for (const part of parts) tiles.push({ ...tile, ...part });
  }
  return tiles;
}

/** Names are compared with `toEqual`, whole tiles with `isDeepStrictEqual`, which is faster with many numbers. */
export const nameOf = ({ precision, geohash }: Pick<AnonymousTile, "precision" | "geohash">) =>
  `${precision}/${geohash}`;

/** Every precision up to the finest. */
export function allOf(precision: number): number[] {
  return Array.from({ length: precision }, (_, index) => index + 1);
}

/** All that can be known: hashes of the bytes that would be stored, of every precision. */
export async function published(
  people: People,
  precision: number,
  limits?: Partial<Anonymity>,
): Promise<Record<string, string>> {
  const tiles = await tilesOf(dayOf(people, precision), allOf(precision), limits);
  return Object.fromEntries(
    tiles.map((tile) => [
      nameOf(tile),
      createHash("sha256").update(encodeTileDay(tile.hours, tile.coverage)).digest("base64"),
    ]),
  );
}

/** What the rules make of a cell, found by going down to the finest cells. */
export interface Settled {
  readonly isSuppressed: boolean;
  /** Published, but what was counted in a suppressed cell. */
  readonly people: number;
  /** The distance to either end of the range, without groups. */
  readonly error: number;
  /** Half of the widths of the intervals of all groups. */
  readonly half: number;
  readonly area: number;
  /** The most people, in whole numbers, that a suppressed cell can have as far as anybody knows. */
  readonly maxPeople: number;
  /** The cells of the next precision inside a suppressed cell. */
  readonly children: readonly Settled[];
  readonly geohash: string;
}

export function settle(people: People, precision: number, geohash: string, groups: Group[] = []): Settled {
  const settled = { geohash, error: 0, half: 0, maxPeople: 0, children: [] };
  if (geohash.length === precision) {
    const count = people.get(geohash) ?? Number.NaN;
    const error = errorOf(count);
    const area = cellArea(geohash);
    return { ...settled, isSuppressed: count < threshold, people: count, error, area, maxPeople: 9 };
  }
  const children = childrenOf(people, geohash).map((child) => settle(people, precision, child, groups));
  const area = sum(children, "area");
  const members = children.filter((child) => child.isSuppressed);
  const others = children.filter((child) => !child.isSuppressed);
  const total = sum(members, "people");
  const maxPeople = sum(members, "maxPeople");
  const withoutAny = maxPeople - Math.max(0, ...members.map((member) => member.maxPeople));
  const limit = 10 * Math.floor(withoutAny / 10);
  const published = Math.min(10 * Math.floor(total / 10), limit);
  if (others.length === 0 && published === 0) {
    const bound = limit > 0 ? 9 : maxPeople;
    return { ...settled, isSuppressed: true, people: total, area, maxPeople: bound, children };
  }
  let [middle, half] = [0, 0];
  if (members.length > 0) {
    const end = published === limit ? (maxPeople / 9) * 10 : published + 10;
    [middle, half] = [(published + end) / 2, (end - published) / 2];
    groups.push({ published, members });
  }
  return {
    ...settled,
    isSuppressed: false,
    people: sum(others, "people") + middle,
    error: Math.hypot(...others.map((other) => other.error)),
    half: half + sum(others, "half"),
    area,
  };
}

/** Suppressed cells with one parent, and what is published of their sum. */
export interface Group {
  readonly published: number;
  readonly members: readonly Settled[];
}

function childrenOf(people: People, geohash: string): string[] {
  const length = geohash.length + 1;
  const below = [...people.keys()].filter((cell) => cell.startsWith(geohash));
  return [...new Set(below.map((cell) => cell.slice(0, length)))].sort();
}

export function sum<Name extends string>(all: readonly Readonly<Record<Name, number>>[], name: Name): number {
  return all.reduce((total, each) => total + each[name], 0);
}

/** All groups; a cell of the coarsest precision that is suppressed is one alone. */
export function groupsOf(people: People, precision: number): Group[] {
  const groups: Group[] = [];
  for (const top of childrenOf(people, "")) {
    const settled = settle(people, precision, top, groups);
    if (settled.isSuppressed) groups.push({ published: 0, members: [settled] });
  }
  return groups;
}

const counts = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 9 }), fc.integer({ min: 7, max: 9 }), {
  weight: 1,
  arbitrary: fc.integer({ min: 10, max: 40 }),
});

/** Few cells, crowded together, so that there are groups of all kinds at all levels. */
export const pyramids = fc
  .tuple(fc.constantFrom("", "u05k", "s000000", "pbpbpbpb"), fc.integer({ min: 1, max: 4 }))
  .chain(([root, depth]) =>
    fc.record({
      precision: fc.constant(root.length + depth),
      people: fc
        .array(
          fc.tuple(
            fc
              .array(fc.constantFrom("0", "1", "7", "8", "g", "z"), { minLength: depth, maxLength: depth })
              .map((characters) => root + characters.join("")),
            counts,
          ),
          { minLength: 1, maxLength: 30 },
        )
        .map((cells): People => new Map(cells)),
    }),
  );
