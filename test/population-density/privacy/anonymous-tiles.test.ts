import { Readable } from "node:stream";
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { suffixesOf } from "../../../functions/population-density/cover/geohash.ts";
import {
  type AnonymousTile,
  anonymousTiles,
  coarserTiles,
  type PublishedPart,
} from "../../../functions/population-density/privacy/anonymous-tiles.ts";
import type { CountedTile } from "../../../functions/population-density/privacy/counted.ts";
import type { ParentSums } from "../../../functions/population-density/privacy/tile-pyramid.ts";
import { encodeTileDay, isCovered } from "../../../functions/population-density/tiles/tile.ts";
import { maxDensity } from "../../../functions/population-density/tiles/tile-hour.ts";
import {
  allOf,
  countedHour,
  dayOf,
  nameOf,
  onePart,
  pyramids,
  settle,
  threshold,
  tilesOf,
} from "../../support/pyramids.ts";
import { runs } from "../../support/sample.ts";

describe("the tiles of a day", () => {
  test("the published tiles of a day follow the rules of suppression, cell by cell at every precision", async () => {
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

  test("the tiles of a precision are the same, whichever other precisions are wanted", async () => {
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

  test("a day whose prefixes are published apart has the tiles of the whole day", async () => {
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

  test("each tile of a day is published as soon as its last cell is counted", async () => {
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

  test("a day is refused with tiles out of order, or counted in other hours", async () => {
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
});

describe("parts of a day", () => {
  test("a part of a day is published as if there were no other", async () => {
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
  test("the range of a sum of 2 % of all people follows from the people counted in all cells", async () => {
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
