import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import openApi from "../../../docs/openapi.json" with { type: "json" };
import { cellArea } from "../../../functions/population-density/cover/cell-area.ts";
import { suffixesOf } from "../../../functions/population-density/cover/geohash.ts";
import { anonymousTiles } from "../../../functions/population-density/privacy/anonymous-tiles.ts";
import { mergedHours } from "../../../functions/population-density/privacy/merged-parts.ts";
import { coverageOf } from "../../../functions/population-density/privacy/parts.ts";
import { publishedSum } from "../../../functions/population-density/privacy/suppression.ts";
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

describe("the groups of suppressed cells in docs/suppression.md", () => {
  const rowsOf = new Map(
    (/\| Group \|[^\n]*(?:\n\|[^\n]*)+/.exec(document)?.[0] ?? "")
      .split("\n")
      .map((line) => line.split("|").map((cell) => cell.trim()))
      .map(([, name = "", ...cells]) => [name.replace(/[,:] .*/, ""), cells.slice(0, -1)]),
  );
  const groups = (rowsOf.get("Group") ?? []).map((cells) => [cells, cells.split(", ").map(Number)] as const);

  test("there are groups within, at and below their limit", () => {
    expect(groups.length).toBeGreaterThan(2);
  });

  test.each(groups)("the group %s is published as its column says, step by step", (name, counts) => {
    const at = groups.findIndex(([each]) => each === name);
    const shown = (row: string) => rowsOf.get(row)?.[at] ?? expect.fail(`no row "${row}"`);
    const [min = Number.NaN, max = Number.NaN] = shown("Published interval").split(" to ").map(Number);
    const ofPeople = (people: number) =>
      publishedSum({ people, bound: counts.length, maxBound: 1 }, threshold);

    const sum = counts.reduce((total, count) => total + count, 0);
    const others = Number(shown("If one cell has nobody"));
    expect(Number(shown("Sum"))).toBe(sum);
    expect(ofPeople(sum)).toEqual({ min, max });
    expect(Number(shown("Limit"))).toBe(ofPeople(counts.length * threshold).min);
    expect(Number(shown("Limit"))).toBe(ofPeople(others).min);
    expect(others).toBe((counts.length - 1) * (threshold - 1));
    expect(Number(shown("Largest multiple of K that is not above the sum"))).toBe(sum - (sum % threshold));
    expect(Number(shown("q"))).toBe(min);
    expect(Number(shown("The group contributes"))).toBe((min + max) / 2);
  });
});

describe("numbers and ranges are rounded as docs/suppression.md says", () => {
  const row = (name: string) => {
    const [, cells = ""] = new RegExp(`\\n\\| ${name} \\|([^\\n]*)`).exec(document) ?? [];
    return cells
      .split("|")
      .slice(0, 3)
      .map((cell) => Number(cell.replaceAll(",", "")));
  };

  test("of a row with 4000,3200,4800, the import publishes the densities in docs/suppression.md and the OpenAPI document", async () => {
    const cell = "u05kq8f";
    const [people = 0, min = 0, max = 0] = row("People in the file");
    expect(`${people},${min},${max}`).toBe(/A row with ([\d,]+)/.exec(document)?.[1]);
    const index = suffixesOf(7).indexOf(cell.slice(-2));
    const only = (value: number) =>
      Float64Array.from({ length: cellsPerTile }, (_, at) => (at === index ? value : 0));
    const hour = { people: only(people), min: only(min), max: only(max) };
    const tile = {
      geohash: cell.slice(0, -2),
      coverage: coverageOf([index]),
      hours: Array.from({ length: 24 }, (_, at) => (at === 0 ? hour : undefined)),
    };
    const tiles = anonymousTiles(
      { precision: 7, tiles: [tile] },
      { precisions: [7], threshold },
      ({ coverage }) => [{ part: "0", coverage }],
    );
    const made = (await tiles.next()).value?.parts[0]?.hours[0];
    const published = [made?.value(index), made?.minimum(index), made?.maximum(index)].map(Number);
    const area = cellArea(cell);

    expect(published).toEqual(row("Published people per km²"));
    expect(published.map((density) => Number((density * area).toFixed(2)))).toEqual(row("Published people"));
    expect([people, min, max].map((each) => Number((each / area).toFixed(1)))).toEqual(row("People per km²"));
    const { description } = openApi.components.schemas.CellPopulationDensity;
    for (const density of published) expect(description).toContain(density.toLocaleString("en"));
  });
});
