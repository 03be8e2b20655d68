import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { overWholeCells } from "../../../functions/population-density/answer/whole-cells.ts";
import { cellArea } from "../../../functions/population-density/cover/cell-area.ts";
import { suffixesOf } from "../../../functions/population-density/cover/geohash.ts";
import {
  type AnonymousTile,
  anonymousTiles,
} from "../../../functions/population-density/privacy/anonymous-tiles.ts";
import type { CountedTile } from "../../../functions/population-density/privacy/counted.ts";
import { type MergedPart, mergedHours } from "../../../functions/population-density/privacy/merged-parts.ts";
import { coverageOf } from "../../../functions/population-density/privacy/parts.ts";
import { cellAreas } from "../../../functions/population-density/privacy/tile-pyramid.ts";
import { encodeTileDay, readTileDay } from "../../../functions/population-density/tiles/tile.ts";
import { cellsPerTile } from "../../../functions/population-density/tiles/tile-hour.ts";
import { runs } from "../../support/sample.ts";

/** What was counted in the finest cells, and the number of the part that each one is of. */
type World = ReadonlyMap<string, { readonly people: number; readonly part: number }>;

/** Cells are small, so that densities are large: they are stored as whole numbers. */
const root = "u05kq8";
const precisions = [6, 7, 8, 9];
const precision = 9;

function tilesOf(world: World): CountedTile[] {
  const names = [...new Set([...world.keys()].map((cell) => cell.slice(0, -2)))].sort();
  return names.map((geohash) => {
    const people = new Float64Array(cellsPerTile);
    const here = [...world].filter(([cell]) => cell.startsWith(geohash));
    for (const [cell, counted] of here) people[indexOf(cell)] = counted.people;
    return {
      geohash,
      coverage: coverageOf(here.map(([cell]) => indexOf(cell))),
      hours: hoursWith({ people, min: people, max: people }),
    };
  });
}

const indexOf = (cell: string) => suffixesOf(precision).indexOf(cell.slice(-2));

function hoursWith<Hour>(hour: Hour): (Hour | undefined)[] {
  return [hour, ...Array.from({ length: 23 }, () => undefined)];
}

/** Every tile of every precision, with its parts apart. */
async function published(world: World, threshold: number, marketShare: number): Promise<AnonymousTile[]> {
  const tiles: AnonymousTile[] = [];
  const partsIn = ({ geohash }: CountedTile) => {
    const here = [...world].filter(([cell]) => cell.startsWith(geohash));
    return [...new Set(here.map(([, { part }]) => part))].sort().map((part) => ({
      part: String(part),
      coverage: coverageOf(here.filter(([, each]) => each.part === part).map(([cell]) => indexOf(cell))),
    }));
  };
  const anonymity = { precisions, threshold, marketShare };
  for await (const tile of anonymousTiles({ precision, tiles: tilesOf(world) }, anonymity, partsIn)) {
    tiles.push(tile);
  }
  return tiles;
}

const slack = 1e-9;

const counts = fc.oneof(
  fc.integer({ min: 0, max: 12 }),
  fc.double({ min: 0, max: 12, noNaN: true }),
  fc.integer({ min: 0, max: 120 }).map((tenths) => tenths / 10),
);

const worlds = fc
  .array(
    fc.tuple(
      fc.tuple(...[6, 7, 8].map(() => fc.constantFrom("0", "1", "2", "z"))),
      fc.record({ people: counts, part: fc.integer({ min: 0, max: 2 }) }),
    ),
    { minLength: 1, maxLength: 60 },
  )
  .map(
    (cells): World => new Map(cells.map(([characters, counted]) => [root + characters.join(""), counted])),
  );

describe("what was counted in a cell", () => {
  test("every range of covered parts and of whole cells holds what was counted, at every precision, of each part and of all", async () => {
    await fc.assert(
      fc.asyncProperty(
        worlds,
        fc.integer({ min: 1, max: 6 }),
        fc.constantFrom(1, 0.4),
        async (world, threshold, marketShare) => {
          for (const tile of await published(world, threshold, marketShare)) {
            const boundPeople = threshold / marketShare;
            const parts = tile.parts.map((part): MergedPart => ({ ...part, boundPeople }));
            const merged = mergedHours(parts, cellAreas(tile.geohash, tile.precision))[0];
            const answered = readTileDay(encodeTileDay(hoursWith(merged))).openHour(0);
            if (answered !== undefined) overWholeCells(answered);
            const shown = [
              ...tile.parts.map(({ part, hours }) => ({ hour: hours[0], part })),
              { hour: merged, part: undefined },
            ];
            for (const { hour, part } of shown) {
              for (const [index, suffix] of suffixesOf(tile.precision).entries()) {
                if (hour?.kind(index) !== "DENSITY_ESTIMATION") continue;
                const cell = tile.geohash + suffix;
                const inside = [...world].filter(
                  ([finest, counted]) =>
                    finest.startsWith(cell) && (part === undefined || String(counted.part) === part),
                );
                const people = inside.reduce((sum, [, counted]) => sum + counted.people, 0) / marketShare;
                const area = inside.reduce((sum, [finest]) => sum + cellArea(finest), 0);
                const density = people / area;
                expect(hour.minimum(index), `${cell} of ${part}`).toBeLessThanOrEqual(density * (1 + slack));
                expect(hour.maximum(index), `${cell} of ${part}`).toBeGreaterThanOrEqual(
                  density * (1 - slack),
                );
                if (part !== undefined) continue;
                const wholeArea = cellArea(cell);
                expect((hour.share(index) * wholeArea) / area).toBeCloseTo(1, 3);
                const whole = answered?.value(index) ?? Number.NaN;
                expect(answered?.minimum(index)).toBeLessThanOrEqual((people / wholeArea) * (1 + slack));
                expect(answered?.maximum(index)).toBeGreaterThanOrEqual(hour.maximum(index));
                expect(answered?.maximum(index)).toBeLessThanOrEqual(hour.maximum(index) * 1.6);
                expect(Math.abs(whole - (hour.value(index) * area) / wholeArea)).toBeLessThan(
                  0.501 + whole / 2_000,
                );
              }
            }
          }
        },
      ),
      { numRuns: runs(2_000, 60) },
    );
  });
});
