import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cellArea } from "../../../functions/population-density/cover/cell-area.ts";
import { suffixesOf } from "../../../functions/population-density/cover/geohash.ts";
import {
  type Anonymity,
  type AnonymousTile,
  anonymousTiles,
  coarserTiles,
  type PublishedPart,
} from "../../../functions/population-density/privacy/anonymous-tiles.ts";
import type { CountedDay, CountedTile } from "../../../functions/population-density/privacy/counted.ts";
import type { ParentSums } from "../../../functions/population-density/privacy/tile-pyramid.ts";
import {
  addToCoverage,
  coverageBytes,
  encodeTileDay,
  isCovered,
} from "../../../functions/population-density/tiles/tile.ts";
import { cellsPerTile, maxDensity } from "../../../functions/population-density/tiles/tile-hour.ts";
import { runs, sampleOf } from "../../support/sample.ts";

const threshold = 10;

/** People by geohash in the one hour that is counted; all keys of one length. */
type People = ReadonlyMap<string, number>;

/** The error of a count. */
const errorOf = (people: number) => people / 4;

const countedHour = 5;

function dayOf(people: People, precision: number): CountedDay & { readonly tiles: CountedTile[] } {
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
const onePart = ({ coverage }: CountedTile) => [{ part: "all", coverage }];

/** The tiles with their only part. */
async function tilesOf(
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
const nameOf = ({ precision, geohash }: Pick<AnonymousTile, "precision" | "geohash">) =>
  `${precision}/${geohash}`;

/** Every precision up to the finest. */
function allOf(precision: number): number[] {
  return Array.from({ length: precision }, (_, index) => index + 1);
}

/** All that can be known: hashes of the bytes that would be stored, of every precision. */
async function published(
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
interface Settled {
  readonly isSuppressed: boolean;
  /** Published, but what was counted in a suppressed cell. */
  readonly people: number;
  /** The distance to either end of the range, without groups. */
  readonly error: number;
  /** Half of the widths of the intervals of all groups. */
  readonly half: number;
  readonly area: number;
  /** Of a suppressed cell: the most people, in whole numbers, that it can have as far as anybody knows. */
  readonly maxPeople: number;
  /** Of a suppressed cell. */
  readonly children: readonly Settled[];
  readonly geohash: string;
}

function settle(people: People, precision: number, geohash: string, groups: Group[] = []): Settled {
  if (geohash.length === precision) {
    const count = people.get(geohash) ?? Number.NaN;
    const isSuppressed = count < threshold;
    const area = cellArea(geohash);
    return {
      isSuppressed,
      people: count,
      error: errorOf(count),
      half: 0,
      area,
      maxPeople: 9,
      children: [],
      geohash,
    };
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
    return {
      isSuppressed: true,
      people: total,
      error: 0,
      half: 0,
      area,
      maxPeople: bound,
      children,
      geohash,
    };
  }
  let [middle, half] = [0, 0];
  if (members.length > 0) {
    const end = published === limit ? (maxPeople / 9) * 10 : published + 10;
    [middle, half] = [(published + end) / 2, (end - published) / 2];
    groups.push({ published, members });
  }
  return {
    isSuppressed: false,
    people: sum(others, "people") + middle,
    error: Math.hypot(...others.map((other) => other.error)),
    half: half + sum(others, "half"),
    area,
    maxPeople: 0,
    children: [],
    geohash,
  };
}

/** Suppressed cells with one parent, and what is published of their sum. */
interface Group {
  readonly published: number;
  readonly members: readonly Settled[];
}

function childrenOf(people: People, geohash: string): string[] {
  const length = geohash.length + 1;
  const below = [...people.keys()].filter((cell) => cell.startsWith(geohash));
  return [...new Set(below.map((cell) => cell.slice(0, length)))].sort();
}

function sum<Name extends string>(all: readonly Readonly<Record<Name, number>>[], name: Name): number {
  return all.reduce((total, each) => total + each[name], 0);
}

/** All groups; a cell of the coarsest precision that is suppressed is one alone. */
function groupsOf(people: People, precision: number): Group[] {
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
const pyramids = fc
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

describe("the tiles of a day", () => {
  test("are those of the rules, cell by cell, at every precision", async () => {
    await fc.assert(
      fc.asyncProperty(pyramids, async ({ people, precision }) => {
        const found = new Set<string>();
        const covers = new Set(
          [...people.keys()].flatMap((cell) => allOf(precision).map((at) => cell.slice(0, at))),
        );
        for (const tile of await tilesOf(dayOf(people, precision), allOf(precision))) {
          const hour = tile.hours[countedHour];
          expect(tile.hours.filter((each) => each !== undefined)).toEqual([hour]);
          const cells = suffixesOf(tile.precision).map((suffix) => tile.geohash + suffix);
          const covered = cells.filter((geohash) => covers.has(geohash));
          expect(cells.filter((_, index) => isCovered(tile.coverage, index))).toEqual(covered);
          expect(cells.filter((_, index) => hour?.kind(index) !== "NO_DATA")).toEqual(covered);
          for (const geohash of covered) {
            found.add(geohash);
            const index = cells.indexOf(geohash);
            const settled = settle(people, precision, geohash);
            expect(hour?.kind(index)).toBe(settled.isSuppressed ? "LOW_DENSITY" : "DENSITY_ESTIMATION");
            if (settled.isSuppressed || hour === undefined) continue;
            const density = Math.min(settled.people / settled.area, maxDensity);
            const value = hour.value(index);
            expect(Math.abs(value - density)).toBeLessThanOrEqual(0.5001 + density / 4_000);
            expect(hour.minimum(index)).toBeLessThanOrEqual(value);
            expect(hour.maximum(index)).toBeGreaterThanOrEqual(value);
            const distance = settled.error + settled.half;
            const ends = [settled.people - distance, settled.people + distance] as const;
            const [min, max] = ends.map((end) => Math.min(end / settled.area, maxDensity));
            expect(hour.minimum(index)).toBeLessThanOrEqual((min ?? 0) * (1 + 1e-9));
            expect(hour.maximum(index)).toBeGreaterThanOrEqual((max ?? 0) * (1 - 1e-9));
            // Ranges are stored with a sixteenth of their width, and whole numbers.
            expect(hour.minimum(index)).toBeGreaterThanOrEqual(
              (min ?? 0) * 0.999 - 2 - (value - (min ?? 0)) / 7,
            );
            expect(hour.maximum(index)).toBeLessThanOrEqual(
              (max ?? 0) * 1.001 + 2 + ((max ?? 0) - value) / 7,
            );
          }
        }
        expect(found).toEqual(covers);
      }),
      { numRuns: runs(200, 20) },
    );
  });

  test("tell of no cell with fewer people than the threshold", async () => {
    await fc.assert(
      fc.asyncProperty(pyramids, async ({ people, precision }) => {
        for (const tile of await tilesOf(dayOf(people, precision), allOf(precision))) {
          for (const [index, suffix] of suffixesOf(tile.precision).entries()) {
            const hour = tile.hours[countedHour];
            if (hour?.kind(index) !== "DENSITY_ESTIMATION") continue;
            const cell = tile.geohash + suffix;
            const below = [...people].filter(([geohash]) => geohash.startsWith(cell));
            expect(below.reduce((total, [, count]) => total + count, 0)).toBeGreaterThanOrEqual(threshold);
          }
        }
      }),
      { numRuns: runs(200, 20) },
    );
  });

  test("hold the same people at every precision when no cell is suppressed", async () => {
    await fc.assert(
      fc.asyncProperty(pyramids, async (pyramid) => {
        const { precision } = pyramid;
        const crowds = [...pyramid.people].map(
          ([cell, count]) => [cell, 1e11 * (1 + count) * cellArea(cell)] as const,
        );
        fc.pre(crowds.every(([, count]) => count >= threshold));
        const people = new Map(crowds);
        const total = crowds.reduce((sum, [, count]) => sum + count, 0);
        const totals = new Map<number, number>();
        for (const tile of await tilesOf(dayOf(people, precision), allOf(precision))) {
          for (const [index, suffix] of suffixesOf(tile.precision).entries()) {
            if (!isCovered(tile.coverage, index)) continue;
            const { area } = settle(people, precision, tile.geohash + suffix);
            const here = (tile.hours[countedHour]?.value(index) ?? 0) * area;
            totals.set(tile.precision, (totals.get(tile.precision) ?? 0) + here);
          }
        }
        expect(totals.size).toBe(precision);
        for (const here of totals.values()) expect(Math.abs(here / total - 1)).toBeLessThan(1 / 2_000);
      }),
      { numRuns: runs(100, 15) },
    );
  });

  test("come without those that are not wanted, and are the same whatever else is wanted", async () => {
    await fc.assert(
      fc.asyncProperty(
        pyramids,
        fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { minLength: 1 }),
        async ({ people, precision }, precisions) => {
          const day = dayOf(people, precision);
          const some = await tilesOf(day, precisions);
          const all = await tilesOf(day, allOf(precision));
          const wanted = all.filter((tile) => precisions.includes(tile.precision));
          expect(some.map(nameOf)).toEqual(wanted.map(nameOf));
          expect(isDeepStrictEqual(some, wanted)).toBe(true);
        },
      ),
      { numRuns: runs(50, 6) },
    );
  });

  test("are the same when those of each prefix are made apart, and the coarser ones of their sums", async () => {
    await fc.assert(
      fc.asyncProperty(pyramids, fc.integer({ min: 2, max: 8 }), async ({ people, precision }, top) => {
        const limits = { precisions: allOf(precision), threshold };
        const day = dayOf(people, precision);
        const topPrecision = Math.max(2, Math.min(top, precision));
        const prefixOf = ({ geohash }: CountedTile) => geohash.slice(0, Math.max(0, topPrecision - 2));
        const counted = [...day.tiles];
        const apart = [...new Set(counted.map(prefixOf))].map((prefix) =>
          counted.filter((tile) => prefixOf(tile) === prefix),
        );
        const sums: ParentSums[] = [];
        const made: AnonymousTile[] = [];
        const beyond = { precision: topPrecision, take: (one: ParentSums) => void sums.push(one) };
        for (const tiles of apart) {
          for await (const tile of anonymousTiles({ ...day, tiles }, limits, onePart, beyond))
            made.push(tile);
        }
        for await (const tile of coarserTiles(Readable.from(sums), limits)) made.push(tile);
        const whole: AnonymousTile[] = [];
        for await (const tile of anonymousTiles(day, limits, onePart)) whole.push(tile);
        const byName = (one: AnonymousTile, other: AnonymousTile) =>
          one.precision - other.precision || (one.geohash < other.geohash ? -1 : 1);
        expect(made.sort(byName).map(nameOf)).toEqual(whole.sort(byName).map(nameOf));
        expect(isDeepStrictEqual(made, whole)).toBe(true);
      }),
      { numRuns: runs(50, 8) },
    );
  });

  test("come as soon as they are finished, one after the other", async () => {
    const people = new Map(["0000", "0100", "1000", "1100"].map((geohash) => [geohash, 20]));
    const day = dayOf(people, 4);
    const steps: string[] = [];
    const tiles = (function* () {
      for (const tile of day.tiles) {
        steps.push(`counted ${tile.geohash}`);
        yield tile;
      }
    })();
    for await (const { precision, geohash } of anonymousTiles(
      { ...day, tiles },
      { precisions: [4, 3, 2, 1], threshold },
      onePart,
    )) {
      steps.push(`${precision}/${geohash}`);
    }
    expect(steps).toEqual([
      ...["counted 00", "4/00", "counted 01", "4/01"],
      ...["counted 10", "4/10", "3/0", "counted 11", "4/11", "3/1", "2/", "1/"],
    ]);
  });

  test("must come in order, and counted in the same hours", async () => {
    const [one, other] = dayOf(
      new Map([
        ["000", 20],
        ["100", 20],
      ]),
      3,
    ).tiles as [CountedTile, CountedTile];
    const of = (...tiles: CountedTile[]) => tilesOf({ precision: 3, tiles }, [3]);
    await expect(of(other, one)).rejects.toThrow("tile 0 comes after tile 1");
    await expect(of(one, one)).rejects.toThrow(RangeError);
    await expect(of(one, { ...other, hours: one.hours.toReversed() })).rejects.toThrow("hour 5 is counted");
  });

  test("of an hour in which nobody is anywhere are suppressed", async () => {
    const [tile] = await tilesOf(dayOf(new Map([["00", 0]]), 2), [1]);
    expect(tile?.hours[countedHour]?.kind(0)).toBe("LOW_DENSITY");
  });
});

/** A world in which a suppressed cell has so many people, not more than it can have. */
function fill(cell: Settled, count: number, into: Map<string, number>): void {
  if (cell.children.length === 0) into.set(cell.geohash, count);
  let left = count;
  for (const child of cell.children) {
    const here = Math.min(left, child.maxPeople);
    fill(child, here, into);
    left -= here;
  }
}

function leavesOf(cell: Settled): string[] {
  return cell.children.length === 0 ? [cell.geohash] : cell.children.flatMap(leavesOf);
}

describe("whoever has everything that is published", () => {
  const shares = fc.constantFrom(undefined, 0.4, 0.125);

  test("cannot exclude any number of people below the threshold in a suppressed cell", async () => {
    const found = { hidden: 0, published: 0, full: 0 };
    await fc.assert(
      fc.asyncProperty(
        pyramids,
        shares,
        fc.nat(),
        fc.integer({ min: 0, max: 9 }),
        async ({ people, precision }, marketShare, at, count) => {
          const leaves = groupsOf(people, precision).flatMap((group) =>
            group.members.flatMap((member) => leavesOf(member).map((leaf) => ({ group, member, leaf }))),
          );
          const chosen = leaves[at % leaves.length];
          fc.pre(chosen !== undefined);
          const { group, member, leaf } = chosen;
          const total = sum(group.members, "people");
          found[group.published === 0 ? "hidden" : total < group.published + 10 ? "published" : "full"]++;

          // All that must be of the group's people is in the other members.
          const other = new Map(people);
          fill(member, 0, other);
          other.set(leaf, count);
          let left = Math.max(0, group.published - count);
          for (const each of group.members.filter((one) => one !== member)) {
            const here = Math.min(left, each.maxPeople);
            fill(each, here, other);
            left -= here;
          }

          expect(left).toBe(0);
          expect(await published(other, precision, { marketShare })).toEqual(
            await published(people, precision, { marketShare }),
          );
        },
      ),
      { numRuns: runs(1_500, 60) },
    );
    // A sample may happen to meet few of a kind.
    for (const times of Object.values(found)) expect(times).toBeGreaterThan(runs(3, -1));
  });

  /** Cells at three levels, some alone, some with neighbours. */
  const shapes = [
    ["000", "001", "002", "003", "004"],
    ["000", "001", "002", "010", "011", "012"],
    ["000", "010", "020", "100", "110", "200"],
    ["000", "001", "010", "011", "020", "021", "100"],
  ];

  const searched = shapes.flatMap((cells) => [
    { cells, limit: 2 },
    ...(cells.length < 7 ? [{ cells, limit: 3 }] : []),
  ]);

  test.each(sampleOf(searched, 2))(
    "cannot, in any of all worlds: $cells with a threshold of $limit",
    async ({ cells, limit }) => {
      const counts = Array.from({ length: limit + 1 }, (_, count) => count);
      const worlds = cells.reduce<number[][]>(
        (some, _, index) =>
          // Only the first cell may be published: the others are as interesting as they get.
          some.flatMap((world) =>
            counts.slice(0, index === 0 ? undefined : limit).map((count) => [...world, count]),
          ),
        [[]],
      );
      const groups = new Map<string, number[][]>();
      for (const world of worlds) {
        const people = new Map(cells.map((cell, index) => [cell, world[index] ?? 0]));
        const known = JSON.stringify(await published(people, 3, { threshold: limit }));
        groups.set(known, [...(groups.get(known) ?? []), world]);
      }
      for (const group of groups.values()) {
        for (const index of cells.keys()) {
          const values = new Set(group.map((world) => world[index] ?? 0));
          if ([...values].some((value) => value >= limit)) continue;
          expect(values.size, `${cells[index]} of ${group[0]}`).toBe(limit);
        }
      }
      expect(groups.size).toBeGreaterThan(1);
    },
  );

  test("does not learn that two cells with 18 people of at most 9 each have 9 each", async () => {
    const full = new Map([
      ["00", 9],
      ["01", 9],
    ]);
    const none = new Map([
      ["00", 0],
      ["01", 0],
    ]);
    expect(await published(full, 2)).toEqual(await published(none, 2));
  });
});

describe("parts of a day", () => {
  test("are published as if there were no other", async () => {
    await fc.assert(
      fc.asyncProperty(pyramids, fc.infiniteStream(fc.boolean()), async ({ people, precision }, sides) => {
        const sideOf = new Map(
          [...people.keys()].map((cell) => [cell, sides.next().value ? "one" : "other"]),
        );
        const of = (side: string) => new Map([...people].filter(([cell]) => sideOf.get(cell) === side));
        const days = ["one", "other"].map((side) => [side, dayOf(of(side), precision)] as const);
        const partsIn = ({ geohash }: CountedTile) =>
          days.flatMap(([part, { coverage }]) => {
            const here = coverage.get(geohash);
            return here === undefined ? [] : [{ part, coverage: here }];
          });
        const together: unknown[] = [];
        const limits = { precisions: allOf(precision), threshold };
        for await (const tile of anonymousTiles(dayOf(people, precision), limits, partsIn)) {
          for (const part of tile.parts) together.push(plain(part.part, { ...tile, ...part }));
        }
        const alone = await Promise.all(
          days.map(async ([side, day]) =>
            (await tilesOf(day, allOf(precision))).map((tile) => plain(side, tile)),
          ),
        );
        expect(together).toHaveLength(alone.flat().length);
        expect(together).toEqual(expect.arrayContaining(alone.flat()));
      }),
      { numRuns: runs(300, 15) },
    );

    function plain(side: string, tile: Omit<AnonymousTile, "parts"> & PublishedPart) {
      const bytes = Buffer.from(encodeTileDay(tile.hours, tile.coverage)).toString("base64");
      return {
        side,
        name: nameOf(tile),
        bytes,
        area: tile.areas.reduce((a, b) => a + b),
      };
    }
  });
});

describe("the range of a sum", () => {
  test("follows from independent errors: of 32 cells it is 5.7 times narrower than that of each", async () => {
    const people = new Map(suffixesOf(1).map((suffix) => [`u05kq8${suffix}`, 10_000]));
    const [tile] = await tilesOf(dayOf(people, 7), [6]);
    const hour = tile?.hours[countedHour];
    const cell = suffixesOf(2).indexOf("q8");
    const value = hour?.value(cell) ?? 0;
    for (const end of [hour?.minimum(cell) ?? 0, hour?.maximum(cell) ?? 0]) {
      expect(Math.abs(end - value) / value).toBeGreaterThan(0.25 / Math.sqrt(32) - 0.001);
      expect(Math.abs(end - value) / value).toBeLessThan((0.25 / Math.sqrt(32)) * 1.1);
    }
  });

  test("follows from the people who were counted together when they are a share of all", async () => {
    const exact = new Map(suffixesOf(1).map((suffix) => [`u05kq8${suffix}`, 10_000]));
    const day = dayOf(exact, 7);
    for (const { hours } of day.tiles) {
      hours[countedHour]?.min.set(hours[countedHour].people);
      hours[countedHour]?.max.set(hours[countedHour].people);
    }
    const [tile] = await tilesOf(day, [6], { marketShare: 0.02 });
    const hour = tile?.hours[countedHour];
    const cell = suffixesOf(2).indexOf("q8");
    const half = ((hour?.maximum(cell) ?? 0) - (hour?.value(cell) ?? 0)) / (hour?.value(cell) ?? 1);
    const expected = (1.96 * Math.sqrt(320_000 * 0.98)) / 320_000;
    expect(half).toBeGreaterThan(expected - 0.0005);
    expect(half).toBeLessThan(expected + 0.0005);
  });
});
