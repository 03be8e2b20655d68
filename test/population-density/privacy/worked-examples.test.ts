import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { suffixesOf } from "../../../functions/population-density/cover/geohash.ts";
import { anonymousTiles } from "../../../functions/population-density/privacy/anonymous-tiles.ts";
import { mergedHours } from "../../../functions/population-density/privacy/merged-parts.ts";
import { coverageOf } from "../../../functions/population-density/privacy/parts.ts";
import { cellAreas } from "../../../functions/population-density/privacy/tile-pyramid.ts";
import { cellsPerTile, type TileHour } from "../../../functions/population-density/tiles/tile-hour.ts";

const document = readFileSync(new URL("../../../docs/suppression.md", import.meta.url), "utf8");
const threshold = 10;

/** A row of the table of examples: the counts of the finest cells of each part, and what is published of all. */
interface Example {
  readonly parts: readonly (readonly number[])[];
  readonly counted: number;
  /** Undefined for `LOW_DENSITY`. */
  readonly published?: { readonly people: number; readonly min: number; readonly max: number };
}

function examples(): [string, Example][] {
  const table = /\| Counts[^\n]*\n\|[-|]*\|\n((?:\|[^\n]*\n)+)/.exec(document)?.[1] ?? "";
  return table
    .trimEnd()
    .split("\n")
    .map((row) => {
      const [, counts = "", counted, people, range = ""] = row.split("|").map((cell) => cell.trim());
      const parts = counts.split(" and ").map((part) => part.split(", ").map(Number));
      const [min = Number.NaN, max = Number.NaN] = range.split(" to ").map(Number);
      const published = people === "`LOW_DENSITY`" ? {} : { published: { people: Number(people), min, max } };
      return [counts, { parts, counted: Number(counted), ...published }];
    });
}

/** What is published of the cell that all these cells are in. Its tile is small, so that densities are precise. */
async function publishedOf(parts: Example["parts"]): Promise<{ hour: TileHour; cell: number; area: number }> {
  const people = new Float64Array(cellsPerTile);
  let cell = 0;
  const divided = parts.map((counts, index) => {
    const cells = counts.map((count) => {
      people[cell] = count;
      return cell++;
    });
    return { part: String(index), coverage: coverageOf(cells) };
  });
  const hours = Array.from({ length: 24 }, (_, hour) =>
    hour === 0 ? { people, min: people, max: people } : undefined,
  );
  const tile = {
    geohash: "u05kq8x",
    coverage: coverageOf(Array.from({ length: cell }, (_, each) => each)),
    hours,
  };
  for await (const made of anonymousTiles(
    { precision: 9, tiles: [tile] },
    { precisions: [8], threshold },
    () => divided,
  )) {
    const merging = made.parts.map((part) => ({ ...part, boundPeople: threshold }));
    const [hour] = mergedHours(merging, cellAreas(made.geohash, made.precision));
    const index = suffixesOf(8).indexOf("x0");
    const area = made.parts.reduce((sum, { areas }) => sum + (areas[index] ?? 0), 0);
    if (hour !== undefined) return { hour, cell: index, area };
  }
  throw new Error("nothing was published");
}

describe("the examples of what is published are so", () => {
  test.each(examples())(
    "the import publishes what docs/suppression.md says: %s",
    async (_, { parts, counted, published }) => {
      expect(parts.flat().reduce((sum, each) => sum + each, 0)).toBeCloseTo(counted, 9);
      const { hour, cell, area } = await publishedOf(parts);
      if (published === undefined) {
        expect(hour.kind(cell)).toBe("LOW_DENSITY");
        return;
      }
      // Ranges are stored with a sixteenth of their width, outwards.
      const { people, min, max } = published;
      expect(Math.round(hour.value(cell) * area)).toBe(people);
      expect(hour.minimum(cell) * area).toBeLessThanOrEqual(min + 0.01);
      expect(hour.minimum(cell) * area).toBeGreaterThan(min - 0.1 - (people - min) / 8);
      expect(hour.maximum(cell) * area).toBeGreaterThanOrEqual(max - 0.01);
      expect(hour.maximum(cell) * area).toBeLessThan(max + 0.1 + (max - people) / 8);
      expect(min).toBeLessThanOrEqual(counted);
      expect(max).toBeGreaterThanOrEqual(counted);
    },
  );
});
