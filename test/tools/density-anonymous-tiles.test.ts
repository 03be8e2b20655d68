import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { suffixesOf } from "../../functions/population-density/cover/geohash.ts";
import {
  addToCoverage,
  cellsPerTile,
  coverageBytes,
  encodeTileDay,
  greatestDensity,
  isCovered,
} from "../../functions/population-density/tile.ts";
import { type AnonymousTile, anonymousTiles } from "../../tools/import/density/anonymous-tiles.ts";
import { cellArea } from "../../tools/import/density/cell-area.ts";
import type { CountedDay, CountedTile } from "../../tools/import/density/counted.ts";

const threshold = 10;

/** People by geohash in the one hour that is counted; all keys of one length. */
type People = ReadonlyMap<string, number>;

/** Ranges that add up when people do. */
const leastOf = (people: number) => people / 2;
const greatestOf = (people: number) => 1.5 * people + 1;

const countedHour = 5;

/** @param weight how many people one counted person stands for. */
function dayOf(
  people: People,
  precision: number,
  weight = 1,
): CountedDay & { readonly tiles: CountedTile[] } {
  const prefixes = [...new Set([...people.keys()].map((geohash) => tileOf(geohash)))].sort();
  const tiles = prefixes.map((geohash) => {
    const coverage = new Uint8Array(coverageBytes);
    const hour = {
      people: new Float64Array(cellsPerTile),
      least: new Float64Array(cellsPerTile),
      greatest: new Float64Array(cellsPerTile),
    };
    for (const [cell, count] of people) {
      if (tileOf(cell) !== geohash) continue;
      const index = suffixesOf(precision).indexOf(cell.slice(geohash.length));
      addToCoverage(coverage, index);
      hour.people[index] = weight * count;
      hour.least[index] = weight * leastOf(count);
      hour.greatest[index] = weight * greatestOf(count);
    }
    return { geohash, coverage, hours: hoursWith(hour) };
  });
  return { date: "2026-11-20", precision, tiles };
}

function hoursWith<Hour>(hour: Hour): (Hour | undefined)[] {
  return Array.from({ length: 24 }, (_, index) => (index === countedHour ? hour : undefined));
}

function tileOf(geohash: string): string {
  return geohash.slice(0, Math.max(geohash.length - 2, 0));
}

async function tilesOf(
  day: CountedDay,
  precisions: readonly number[],
  peoplePerCounted?: number,
): Promise<AnonymousTile[]> {
  const tiles: AnonymousTile[] = [];
  const limits = { threshold: threshold * (peoplePerCounted ?? 1), peoplePerCounted };
  for await (const tile of anonymousTiles(day, { precisions, ...limits })) tiles.push(tile);
  return tiles;
}

/** Every precision up to the finest. */
function allOf(precision: number): number[] {
  return Array.from({ length: precision }, (_, index) => index + 1);
}

/** All that can be known: hashes of the bytes that would be stored, of every precision. */
async function published(
  people: People,
  precision: number,
  weight?: number,
): Promise<Record<string, string>> {
  const tiles = await tilesOf(dayOf(people, precision, weight), allOf(precision), weight);
  return Object.fromEntries(
    tiles.map((tile) => [
      `${tile.precision}/${tile.geohash}`,
      createHash("sha256").update(encodeTileDay(tile.hours, tile.coverage)).digest("base64"),
    ]),
  );
}

/** What the rules make of a cell, found by going down to the finest cells. */
interface Settled {
  readonly low: boolean;
  /** Published, but what was counted in a low cell. */
  readonly people: number;
  readonly least: number;
  readonly greatest: number;
  readonly area: number;
  /** The finest cells of a low cell. */
  readonly leaves: readonly string[];
}

/** Low cells that count as a group: the finest cells of each. */
interface Group {
  readonly kind: "hidden" | "told" | "nearly full";
  readonly cells: readonly (readonly string[])[];
}

function settle(people: People, precision: number, geohash: string, groups: Group[] = []): Settled {
  if (geohash.length === precision) {
    const count = people.get(geohash) ?? Number.NaN;
    const range = { least: leastOf(count), greatest: greatestOf(count) };
    return { low: count < 10, people: count, ...range, area: cellArea(geohash), leaves: [geohash] };
  }
  const children = childrenOf(people, geohash).map((child) => settle(people, precision, child, groups));
  const area = sum(children, "area");
  const low = children.filter((child) => child.low);
  const others = children.filter((child) => !child.low);
  const total = sum(low, "people");
  const leaves = low.flatMap((child) => child.leaves);
  if (others.length === 0 && total < 10) {
    const range = { least: sum(low, "least"), greatest: sum(low, "greatest") };
    return { low: true, people: total, ...range, area, leaves };
  }
  let group = { people: 0, least: 0, greatest: 0 };
  if (low.length > 0) {
    const cells = low.map((child) => child.leaves);
    const most = (low.length - 1) * 9;
    if (total < 10) {
      groups.push({ kind: "hidden", cells });
      group = { people: 5, least: 0, greatest: 10 };
    } else if (total <= most) {
      groups.push({ kind: "told", cells });
      group = {
        people: total,
        least: 10 * Math.floor(sum(low, "least") / 10),
        greatest: 10 * Math.ceil(sum(low, "greatest") / 10),
      };
    } else {
      groups.push({ kind: "nearly full", cells });
      const [from, to] = [Math.max(10, most), 10 * low.length];
      group = { people: (from + to) / 2, least: from, greatest: to };
    }
  }
  return {
    low: false,
    people: sum(others, "people") + group.people,
    least: sum(others, "least") + group.least,
    greatest: sum(others, "greatest") + group.greatest,
    area,
    leaves: [],
  };
}

function childrenOf(people: People, geohash: string): string[] {
  const length = geohash.length + 1;
  const below = [...people.keys()].filter((cell) => cell.startsWith(geohash));
  return [...new Set(below.map((cell) => cell.slice(0, length)))].sort();
}

function sum<Name extends string>(all: readonly Readonly<Record<Name, number>>[], name: Name): number {
  return all.reduce((total, each) => total + each[name], 0);
}

/** All groups; what is low up to the coarsest precision is hidden as a whole. */
function groupsOf(people: People, precision: number): Group[] {
  const groups: Group[] = [];
  for (const top of childrenOf(people, "")) {
    const { low, leaves } = settle(people, precision, top, groups);
    if (low) groups.push({ kind: "hidden", cells: [leaves] });
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
            expect(hour?.kind(index)).toBe(settled.low ? "LOW_DENSITY" : "DENSITY_ESTIMATION");
            if (settled.low || hour === undefined) continue;
            const density = Math.min(settled.people / settled.area, greatestDensity);
            const value = hour.value(index);
            expect(Math.abs(value - density)).toBeLessThanOrEqual(0.5001 + density / 4_000);
            expect(hour.minimum(index)).toBeLessThanOrEqual(value);
            expect(hour.maximum(index)).toBeGreaterThanOrEqual(value);
            expect(hour.minimum(index)).toBeLessThanOrEqual((settled.least / settled.area) * (1 + 1e-9));
            expect(hour.maximum(index)).toBeGreaterThanOrEqual(
              Math.min(settled.greatest / settled.area, greatestDensity) * (1 - 1e-9),
            );
          }
        }
        expect(found).toEqual(covers);
      }),
      { numRuns: 200 },
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
      { numRuns: 200 },
    );
  });

  test("hold the same people at every precision when no cell is low", async () => {
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
      { numRuns: 100 },
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
          expect(some).toEqual(all.filter((tile) => precisions.includes(tile.precision)));
        },
      ),
      { numRuns: 50 },
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
    const of = (...tiles: CountedTile[]) => tilesOf({ date: "2026-11-20", precision: 3, tiles }, [3]);
    await expect(of(other, one)).rejects.toThrow("tile 0 comes after tile 1");
    await expect(of(one, one)).rejects.toThrow(RangeError);
    await expect(of(one, { ...other, hours: one.hours.toReversed() })).rejects.toThrow("hour 5 is counted");
  });

  test("of an hour in which nobody is anywhere are low", async () => {
    const [tile] = await tilesOf(dayOf(new Map([["00", 0]]), 2), [1]);
    expect(tile?.hours[countedHour]?.kind(0)).toBe("LOW_DENSITY");
  });
});

/** The people again, other numbers in some cells. */
function changed(people: People, changes: readonly (readonly [string, number])[]): People {
  return new Map([...people, ...changes]);
}

/** How many people one counted person stands for. */
const weights = fc.constantFrom(undefined, 2.5, 8);

describe("whoever has everything that is published", () => {
  test("cannot tell how many people there are in a group of fewer than the threshold, nor where", async () => {
    let groups = 0;
    await fc.assert(
      fc.asyncProperty(pyramids, weights, fc.infiniteStream(fc.nat()), async (pyramid, weight, numbers) => {
        const { people, precision } = pyramid;
        const hidden = groupsOf(people, precision).filter(({ kind }) => kind === "hidden");
        groups += hidden.length;
        const other = hidden.flatMap(({ cells }) => {
          let left = 10;
          return cells.flat().map((leaf) => {
            const count = numbers.next().value % left;
            left -= count;
            return [leaf, count] as const;
          });
        });
        expect(await published(changed(people, other), precision, weight)).toEqual(
          await published(people, precision, weight),
        );
      }),
      { numRuns: 300 },
    );
    expect(groups).toBeGreaterThan(200);
  });

  test("cannot tell where the people of a group are whose sum is told", async () => {
    let groups = 0;
    await fc.assert(
      fc.asyncProperty(pyramids, weights, fc.infiniteStream(fc.nat()), async (pyramid, weight, numbers) => {
        const { people, precision } = pyramid;
        let other = people;
        for (const { kind, cells } of groupsOf(people, precision)) {
          if (kind !== "told") continue;
          groups++;
          for (let move = 0; move < 20; move++) {
            const [from = [], to = []] = [pick(cells), pick(cells)];
            const [giver = "", taker = ""] = [pick(from), pick(to)];
            const total = to.reduce((sum, leaf) => sum + (other.get(leaf) ?? 0), 0);
            const [gives = 0, takes = 0] = [other.get(giver), other.get(taker)];
            if (gives === 0 || giver === taker || (from !== to && total === 9)) continue;
            other = changed(other, [
              [giver, gives - 1],
              [taker, takes + 1],
            ]);
          }
        }
        expect(await published(other, precision, weight)).toEqual(await published(people, precision, weight));

        function pick<Each>(all: readonly Each[]): Each | undefined {
          return all[numbers.next().value % all.length];
        }
      }),
      { numRuns: 300 },
    );
    expect(groups).toBeGreaterThan(20);
  });

  test("cannot exclude any number of people in a low cell, but that one of a nearly full group is empty", async () => {
    const kinds = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(
        pyramids,
        weights,
        fc.nat(),
        fc.integer({ min: 0, max: 9 }),
        async (pyramid, weight, at, count) => {
          const { people, precision } = pyramid;
          const low = groupsOf(people, precision).flatMap((group) =>
            group.cells.flatMap((cell) => cell.map((leaf) => ({ ...group, cell, leaf }))),
          );
          const chosen = low[at % low.length];
          fc.pre(chosen !== undefined);
          const { kind, cells, cell, leaf } = chosen;
          fc.pre(kind !== "nearly full" || count > 0);
          kinds.set(kind, (kinds.get(kind) ?? 0) + 1);

          // Everybody else of the group moves to the first finest cells of its other cells.
          const sum = cells.flat().reduce((total, each) => total + (people.get(each) ?? 0), 0);
          const others = cells.filter((other) => other !== cell);
          let left = kind === "hidden" ? 0 : kind === "told" ? sum - count : 9 * others.length;
          const other = changed(people, [
            ...cells.flat().map((each) => [each, 0] as const),
            ...others.map(([first = ""]) => {
              const here = Math.min(left, 9);
              left -= here;
              return [first, here] as const;
            }),
            [leaf, count],
          ]);

          expect(left).toBe(0);
          expect(await published(other, precision, weight)).toEqual(
            await published(people, precision, weight),
          );
        },
      ),
      { numRuns: 400 },
    );
    for (const kind of ["hidden", "told", "nearly full"]) expect(kinds.get(kind)).toBeGreaterThan(20);
  });

  test("is not told that two cells with 18 people of at most 9 each have 9 each", async () => {
    const full = new Map([
      ["00", 9],
      ["01", 9],
    ]);
    const fewer = new Map([
      ["00", 3],
      ["01", 7],
    ]);
    expect(await published(full, 2)).toEqual(await published(fewer, 2));
  });
});
