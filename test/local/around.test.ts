import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../../shared/temporary-folder.ts";
import type { Place } from "../../tools/import/density/gazetteer.ts";
import { aroundOf, boxAt, placesNamed } from "../../tools/local/around.ts";

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder("around-");
  vi.stubEnv("DENSITY_PRECISIONS", undefined);
});
afterEach(() => {
  folder.remove();
  vi.unstubAllEnvs();
});

/** A place; all are at the same point unless it matters. */
function place(name: string, others: Partial<Place> = {}): Place {
  return { name, country: "NO", region: "01", people: 1_000, longitude: 0, latitude: 0, ...others };
}

const places = ["Tromsø", "Saint-Étienne", "Łódź", "Nairobi", "Springfield", "Springfield"].map(
  (name, index) => place(name, { people: 1_000 - index }),
);

test.each([
  ["tromso", "Tromsø"],
  ["SAINT ETIENNE", "Saint-Étienne"],
  ["lodz", "Łódź"],
])("--around finds %s as %s, without accents, case and hyphens", (typed, name) => {
  expect(placesNamed(typed, places).map((found) => found.name)).toEqual([name]);
});

test("--around finds a place with its country, and as its messages name it with its state", () => {
  const paris = (country: string, region: string, people: number) =>
    place("Paris", { country, region, people });
  const several = [paris("FR", "11", 2_000), paris("US", "TX", 1_000), paris("US", "TN", 900)];

  expect(placesNamed("paris, france", several)).toEqual([several[0]]);
  expect(placesNamed("Paris, TN, United States", several)).toEqual([several[2]]);
  expect(placesNamed("Paris, United States", several)).toEqual(several.slice(1));
});

test("--around names the nearest place for an unknown one", () => {
  expect(() => placesNamed("Nairbi", places)).toThrow('The nearest is Nairobi, Norway: --around "Nairobi"');
});

test("--around takes the largest of several places, and lists the others with country, people and their own --around", async () => {
  const { name, notes } = await aroundOf("springfield");
  const [first = "", second = ""] = notes;
  expect(first).toContain(name);
  const [, people, box = ""] =
    /^Springfield, .+, United States \(([\d,]+) people\): --around (.+)$/.exec(second) ?? [];
  expect(Number(people?.replace(",", ""))).toBeGreaterThan(1_000);
  expect((await aroundOf(box)).name).toBe(box);
});

test("npm start --around NAME covers 0.1° × 0.1° around the place, also across the antimeridian", () => {
  expect(boxAt({ latitude: -1.5, longitude: 36.75 })).toEqual({
    west: 36.7,
    south: -1.55,
    east: 36.8,
    north: -1.45,
  });
  expect(boxAt({ latitude: 0, longitude: 179.98 })).toMatchObject({ west: 179.93, east: -179.97 });
  expect(boxAt({ latitude: 0, longitude: -180 })).toMatchObject({ west: 179.95, east: -179.95 });
});

test("--around says of a box in the sea that nobody lives there, and of one with a city nothing", async () => {
  expect((await aroundOf("0,0,0.05,0.05")).notes).toEqual([expect.stringContaining("every cell is empty")]);
  expect((await aroundOf("178.40,-18.16,178.46,-18.12")).notes).toEqual([]);
});

test("--around lets examples ask at the largest place of a box", async () => {
  const [latitude = 0, longitude = 0] = (await aroundOf("178.40,-18.16,178.46,-18.12")).at
    .split(",")
    .map(Number);
  expect(latitude).toBeCloseTo(-18.14, 2);
  expect(longitude).toBeCloseTo(178.44, 2);
});

test("--around covers the polygons of a file, and lets examples ask within them", async () => {
  const path = join(folder.path, "area.geojson");
  const ring = [
    [30, 0],
    [30.2, 0],
    [30, 0.2],
    [30, 0],
  ];
  writeFileSync(path, JSON.stringify({ type: "Polygon", coordinates: [ring] }));

  const { name, model, at } = await aroundOf(path);

  expect(name).toBe(path);
  expect(JSON.parse(model)).toEqual({ area: { type: "Polygon", coordinates: [ring] } });
  const [latitude = 0, longitude = 0] = at.split(",").map(Number);
  expect(latitude + longitude - 30).toBeLessThan(0.201);
});

test.each([
  ["0,0,3,3", "has more than 40,000 cells"],
  ["45.76,4.83", "must be four numbers"],
  ["0,0,0.1,-0.1", "must have its south before its north"],
  ["none.geojson", "no such file"],
])("--around refuses %s, which %s", async (text, message) => {
  await expect(aroundOf(text)).rejects.toThrow(message);
});
